#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "model/vocabulary.h"

namespace tacho {

// Some rows have a category that Kineto does not write: only the name of their process, or their
// own name, shows what they are. A file may give the names of its processes anywhere, so such rows
// wait until the whole file is read.

// What the rows of one track are.
enum class TrackRows : uint8_t {
  kUnknown,  // nothing shows what they are
  kWork,     // work of a device; KindOfDeviceRow tells the kind of each row
  kCalls,    // calls on the host that put work onto a device
  kDerived,  // figures that the producer computed from other rows of the file
  kUnread,   // rows of a device in a form that tacho does not read
};

// What the rows of a track are. This follows from the names of the process and the thread and from
// the label of the process. Examples: torch_npu's "Ascend Hardware", unitrace's "DEVICE<0x0bd5>",
// JAX's "/device:GPU:0" with "Stream #13(Compute)".
TrackRows RowsOfTrack(std::string_view process, std::string_view label, std::string_view thread);

// What kind of work a row of a device is: kKernel, kMemcpy, kMemset, or kOther for a wait, an event
// record or a barrier. `type`: the type that the row's producer gives it, may be "".
SliceKind KindOfDeviceRow(std::string_view type, std::string_view name);

// torch_npu's argument that holds the type.
inline constexpr std::string_view kDeviceRowType = "Task Type";
// torch_npu's argument that joins a device's row with the call that launched it.
inline constexpr std::string_view kDeviceRowLink = "connection_id";

// One row, or several of the same kind, waiting until the name of its process is known.
struct WaitingRow {
  CategoryId category{};
  bool has_category = false;
  bool names_device = false;  // its arguments name a device and a stream
  TrackId track{};
};
// Whether an event gives such a row.
bool IsWaiting(const Event& event, const Vocabulary& words);
WaitingRow WaitingOf(const Event& event);

// Decides what the waiting rows are. Create it when all names of processes are known.
class WaitingRows {
 public:
  explicit WaitingRows(const Vocabulary& words);
  [[nodiscard]] TrackRows Of(const WaitingRow& row) const;
  // What a message calls the source of an unread row: the row's category or, if it has none, the
  // name of its process.
  [[nodiscard]] std::string_view NameOf(const WaitingRow& row) const;
  // The stream for a row of device work: the device is named after the process, the stream after
  // the thread.
  static StreamId StreamOf(TrackId track, Vocabulary& words);

 private:
  const Vocabulary& words_;
  std::vector<TrackRows> of_track_;
  // If any track is kWork, no other track is kUnread just because of its name.
  bool any_work_ = false;
};

}  // namespace tacho

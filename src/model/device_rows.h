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

// Rows that no category of Kineto explains: only their process or their names show what they are. A
// file may name its processes anywhere, so such rows are sorted out after the whole file is read.

// What the rows of a track are.
enum class TrackRows : uint8_t {
  kUnknown,  // nothing shows it
  kWork,     // work of a device; each row is explained by itself
  kCalls,    // calls of the host that put work onto a device
  kDerived,  // computed by the producer from rows that are elsewhere in the file
  kUnread,   // rows of a device, in a form that tacho does not read
};

// Decides by the names of the track's process and thread and by the label of its process:
// torch_npu's "Ascend Hardware", unitrace's "DEVICE<0x0bd5>", JAX's "/device:GPU:0" with
// "Stream #13(Compute)".
TrackRows RowsOfTrack(std::string_view process, std::string_view label, std::string_view thread);

// What a row on a device is, by the type that its producer gives it (may be "") and by its name:
// kKernel, kMemcpy, kMemset, or kOther for a wait, the record of an event or a barrier.
SliceKind KindOfDeviceRow(std::string_view type, std::string_view name);

// torch_npu's argument with that type.
inline constexpr std::string_view kDeviceRowType = "Task Type";
// torch_npu's argument that joins a row of a device with the call that launched it.
inline constexpr std::string_view kDeviceRowLink = "connection_id";

// A row, or many rows of one kind, that waits until its process is known.
struct WaitingRow {
  CategoryId category{};
  bool has_category = false;
  bool names_device = false;  // its arguments name a device and a stream
  TrackId track{};
};
// Whether an event is such a row.
bool IsWaiting(const Event& event, const Vocabulary& words);
WaitingRow WaitingOf(const Event& event);

// Decides what waiting rows are, once all names are known.
class WaitingRows {
 public:
  explicit WaitingRows(const Vocabulary& words);
  [[nodiscard]] TrackRows Of(const WaitingRow& row) const;
  // The source of an unread row, for people: its category, else the name of its process.
  [[nodiscard]] std::string_view NameOf(const WaitingRow& row) const;
  // The stream of a row of work: its process and thread.
  static StreamId StreamOf(TrackId track, Vocabulary& words);

 private:
  const Vocabulary& words_;
  std::vector<TrackRows> of_track_;
  bool any_work_ = false;  // a track is kWork: then names alone make no other track kUnread
};

}  // namespace tacho

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/classifier.h"
#include "analysis/in_flight.h"
#include "model/track_index.h"
#include "view/computed_rows.h"
#include "view/lane.h"
#include "view/palette.h"
#include "view/stack.h"

namespace tacho {

enum class RowKind : uint8_t {
  kSteps,          // of the engine
  kBusy,           // of a device: any work
  kIdle,           // of a device: its idle time by cause
  kCommunication,  // of a device: hidden and exposed
  kStream,         // of a device: its work
  kMarks,          // of a device: the engine's own annotations there
  kThread,         // of a process
};

// One row of the timeline: a label and its lanes from the top.
struct TimelineRow {
  RowKind kind = RowKind::kThread;
  Palette palette = Palette::kHost;
  std::string owner = {};  // the device's id, or the process: "1234 VLLM::Worker_TP0"
  std::string label = {};  // "7" of a stream, "1235 (python)" of a thread
  std::string lacks = {};  // why there is nothing to show; "" when there is
  std::vector<Lane> lanes = {};
};

// The rows of one trace, in the order that they are shown in: steps, the computed rows of each
// device, its streams by their busy time, the threads that launch, all other threads. No slice of
// the trace is left out. Refers to the trace, which must outlive it.
//
// Cost: that of the index, the idle causes and O(n log l) for l lanes. Memory: 8 bytes a slice, 24
// a gap and 400 a lane, beside the index.
class RankRows {
 public:
  RankRows(const Trace& trace, const Classifier& classifier, const InFlight* in_flight = nullptr,
           size_t threads = 1);
  RankRows(const RankRows&) = delete;  // lanes refer to tables_
  RankRows& operator=(const RankRows&) = delete;

  [[nodiscard]] const Trace& trace() const { return index_.trace(); }
  [[nodiscard]] const TrackIndex& index() const { return index_; }
  [[nodiscard]] const std::vector<TimelineRow>& rows() const { return rows_; }
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  void MakeTables(const Classifier& classifier);
  void AddComputed(const StepTable& steps, const DeviceWork& work,
                   const std::vector<IdleStretch>& stretches);
  void AddStreams();
  void AddThreads(const LaunchLinks& links);
  // Its slices must be in slices_.
  std::vector<Lane> LanesOf(const ComputedRow& row) const;

  TrackIndex index_;
  ComputedSlices computed_;
  std::vector<DrawnTable> tables_;  // by DrawnFrom
  std::vector<TimelineRow> rows_;
};

}  // namespace tacho

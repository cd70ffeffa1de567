#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/device/in_flight.h"
#include "analysis/names/classifier.h"
#include "analysis/prepared_trace.h"
#include "view/computed_rows.h"
#include "view/lane.h"
#include "view/palette.h"
#include "view/rank_names.h"
#include "view/stack.h"
#include "view/untold_figures.h"

namespace tacho {

enum class RowKind : uint8_t {
  kSteps,          // of the engine
  kBusy,           // of a device: any work
  kIdle,           // of a device: its idle time by cause
  kCommunication,  // of a device: hidden and exposed
  kStream,         // of a device: its work
  kMarks,          // of a device: the engine's own annotations there; of a thread: its ranges and
                   // instants
  kThread,         // of a process
};

// Groups of rows that the page can fold.
enum class RowGroup : uint8_t { kComputed, kStreams, kLaunching, kOther };

// As the API writes them: "communication", "launching".
std::string_view RowKindName(RowKind kind);
std::string_view RowGroupName(RowGroup group);

// The label of a stream's row begins with this word; the rest is from the trace.
inline constexpr std::string_view kStreamWord = "stream ";

// One row of the timeline: a label and its lanes from the top.
struct TimelineRow {
  RowKind kind = RowKind::kThread;
  RowGroup group = RowGroup::kOther;
  Palette palette = Palette::kHost;
  std::string owner = {};  // the device's id, or the process: "1234 VLLM::Worker_TP0"
  std::string label = {};  // "stream 7", "1235 (python)" of a thread
  std::string lacks = {};  // why it shows nothing; "" if it shows something
  std::vector<Lane> lanes = {};

  [[nodiscard]] size_t slices() const;
};

// The rows of one trace, in the order that they are shown in: steps, the computed rows of each
// device, its streams by their busy time, the threads that launch, all other threads. No slice of
// the trace is left out. Keeps nothing of `prepared`, which must be of the whole trace. Refers to
// the trace, which must outlive it.
//
// Cost: that of AttributeIdle, and O(n log l) for l lanes, on three threads at most. Memory: 15
// bytes a slice, 4 a piece of device work or a call, 60 a gap; the last block of a lane is on
// average half empty (see Lane).
class RankRows {
 public:
  // `mixed_ranks`: as TraceFacts has it.
  RankRows(const PreparedTrace& prepared, const Classifier& classifier,
           const InFlight* in_flight = nullptr, size_t threads = 1, bool mixed_ranks = false);
  RankRows(const RankRows&) = delete;  // lanes refer to tables_
  RankRows& operator=(const RankRows&) = delete;

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const std::vector<TimelineRow>& rows() const { return rows_; }
  [[nodiscard]] const RankNames& names() const { return *names_; }
  [[nodiscard]] const LaunchLinks& links() const { return links_; }
  // The engine's steps, by start: the same as in the timeline's row of steps. That row may have
  // several lanes.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_.steps; }
  [[nodiscard]] const StepTable& step_table() const { return steps_; }
  // The kMostGaps longest idle gaps of all devices, longest first.
  static constexpr size_t kMostGaps = 100;
  [[nodiscard]] const std::vector<IdleGap>& gaps() const { return gaps_; }
  // If idle time is unknown, there is no gap and no cause. If device time is unknown, only the
  // streams of a device have slices, not its other rows.
  [[nodiscard]] const UntoldFigures& untold() const { return untold_; }
  // Whether host and device share a clock, so that delays of launches are known.
  [[nodiscard]] bool common_clock() const { return common_clock_; }
  // As RecordedPart; empty if device time is unknown.
  [[nodiscard]] Interval recorded() const { return recorded_; }
  // The row that shows a slice of a table of the trace (no range, no instant), or a step (by its
  // number): an index into rows(); kNoRow if none does.
  static constexpr uint32_t kNoRow = 0xffffffff;
  [[nodiscard]] uint32_t RowOf(SliceRef slice) const;
  // The slice's arguments; for GPU work, operators and calls without their ids.
  [[nodiscard]] ArgsRef Args(SliceRef slice) const {
    return tables_[slice.table()].slices->args[slice.row()];
  }
  [[nodiscard]] Interval When(SliceRef slice) const {
    return tables_[slice.table()].slices->When(slice.row());
  }
  // The row of this kind for `device`; kNoRow without one.
  [[nodiscard]] uint32_t RowOf(RowKind kind, std::string_view device) const;
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  void MakeTables(const Classifier& classifier);
  void NameTables();
  // The rows that analyses found.
  void AddComputed(const PreparedTrace& prepared, const InFlight* in_flight);
  [[nodiscard]] std::vector<Lane> LanesOf(const ComputedRow& row) const;
  // `lanes`: of streams by StreamId, of threads by TrackId.
  void AddStreams(const TrackIndex& index, std::vector<std::vector<Lane>> lanes);
  void AddThreads(const TrackIndex& index, std::vector<std::vector<Lane>> lanes);
  void AddMarks();

  const Trace* trace_;
  UntoldFigures untold_;
  bool common_clock_ = true;
  Interval recorded_;
  LaunchLinks links_;
  StepTable steps_;
  std::vector<IdleGap> gaps_;
  ComputedSlices computed_;
  SliceTable marks_;
  std::unique_ptr<RankNames> names_;  // of the trace and of computed_
  std::vector<DrawnTable> tables_;    // by DrawnFrom
  std::vector<TimelineRow> rows_;
  // Indexes into rows_.
  std::vector<uint32_t> row_of_stream_;                                           // by StreamId
  std::vector<uint32_t> row_of_thread_, row_of_others_, row_of_gpu_annotations_;  // by TrackId
};

}  // namespace tacho

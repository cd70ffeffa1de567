#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/device/in_flight.h"
#include "analysis/names/classifier.h"
#include "analysis/prepared_trace.h"
#include "view/computed_rows.h"
#include "view/lane.h"
#include "view/layer_rows.h"
#include "view/palette.h"
#include "view/rank_names.h"
#include "view/stack.h"
#include "view/untold_figures.h"

namespace tacho {

enum class RowKind : uint8_t {
  kSteps,          // the steps of the engine
  kBusy,           // when a device had any work
  kIdle,           // a device's idle time, by cause
  kCommunication,  // a device's communication, hidden and exposed
  kLayer,          // the layers of the model in each step; no row if there are none
  kBlock,          // their blocks, and those outside of layers
  kStream,         // the work of one stream of a device
  kMarks,          // annotations that the file draws on a device; a thread's ranges and instants
  kThread,         // the slices of a thread of a process
};

// Groups of rows that the page can fold.
enum class RowGroup : uint8_t { kComputed, kStreams, kLaunching, kOther };

// The names in the page's API, such as "communication" and "launching".
std::string_view RowKindName(RowKind kind);
std::string_view RowGroupName(RowGroup group);

// The label of a stream's row begins with this word; the rest comes from the trace.
inline constexpr std::string_view kStreamWord = "stream ";

// One row of the timeline: a label and its lanes from the top.
struct TimelineRow {
  RowKind kind = RowKind::kThread;
  RowGroup group = RowGroup::kOther;
  Palette palette = Palette::kHost;
  std::string owner = {};  // the device's id, or the process: "1234 VLLM::Worker_TP0"
  std::string label = {};  // "stream 7"; for a thread its id and name
  std::string lacks = {};  // why the row is empty; "" if it is not
  std::vector<Lane> lanes = {};

  [[nodiscard]] size_t slices() const;
};

// The rows of one trace, in the order in which they are shown: steps, the computed rows of each
// device, the streams by busy time, the threads that launch work, all other threads, ranges and
// instants. No slice of the trace is left out. `prepared` must be of the whole trace; only the
// constructor uses it. The trace itself must outlive this object.
//
// Cost: that of attributing idle time to causes, and O(n log l) for n slices in l lanes; uses at
// most three threads. Memory: 15 bytes a slice, 4 more for a piece of device work or a call, 60 for
// an idle gap; and that of LayerRows. The last block of a lane is half empty on average (see Lane).
class RankRows {
 public:
  // `mixed_ranks`: TraceFacts::mixed_ranks.
  RankRows(const PreparedTrace& prepared, const Classifier& classifier,
           const InFlight* in_flight = nullptr, size_t threads = 1, bool mixed_ranks = false);
  RankRows(const RankRows&) = delete;  // lanes refer to tables_
  RankRows& operator=(const RankRows&) = delete;

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const std::vector<TimelineRow>& rows() const { return rows_; }
  [[nodiscard]] const RankNames& names() const { return *names_; }
  [[nodiscard]] const LaunchLinks& links() const { return links_; }
  // The engine's steps, by start. The timeline's row of steps shows the same ones, but may have
  // several lanes.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_.steps; }
  [[nodiscard]] const StepTable& step_table() const { return steps_; }
  [[nodiscard]] const LayerRows& layers() const { return layers_; }
  // The kMostGaps longest idle gaps of all devices, longest first.
  static constexpr size_t kMostGaps = 100;
  [[nodiscard]] const std::vector<IdleGap>& gaps() const { return gaps_; }
  // Which figures are unknown. If idle time is unknown, there are no gaps and no causes. If device
  // time is unknown, the computed rows of a device are empty; only its stream rows have slices.
  [[nodiscard]] const UntoldFigures& untold() const { return untold_; }
  // Whether host and device share a clock, so that delays of launches are known.
  [[nodiscard]] bool common_clock() const { return common_clock_; }
  // The result of RecordedPart: when calls and GPU work were recorded. Empty if device time is
  // unknown.
  [[nodiscard]] Interval recorded() const { return recorded_; }
  // The index in rows() of the row that shows a slice of the trace (but not a range or an instant),
  // or a step (by its number). kNoRow if no row does.
  static constexpr uint32_t kNoRow = 0xffffffff;
  [[nodiscard]] uint32_t RowOf(SliceRef slice) const;
  // The slice's arguments. For GPU work, operators and calls, the ids are not among them, because
  // ids have columns of their own.
  [[nodiscard]] ArgsRef Args(SliceRef slice) const {
    return tables_[slice.table()].slices->args[slice.row()];
  }
  [[nodiscard]] Interval When(SliceRef slice) const {
    return tables_[slice.table()].slices->When(slice.row());
  }
  // The index of the row of this kind for `device`; kNoRow if there is none.
  [[nodiscard]] uint32_t RowOf(RowKind kind, std::string_view device) const;
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  void MakeTables(const Classifier& classifier);
  void NameTables();
  // Adds the rows whose slices come from analyses.
  void AddComputed(const PreparedTrace& prepared, const InFlight* in_flight);
  [[nodiscard]] std::vector<Lane> LanesOf(const ComputedRow& row) const;
  // Leaves out empty slices. They may come in any order.
  [[nodiscard]] std::vector<Lane> LanesOfLayers(const ComputedRow& row) const;
  // `lanes`: in AddStreams by StreamId, in AddThreads by TrackId.
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
  LayerRows layers_;
  SliceTable marks_;
  std::unique_ptr<RankNames> names_;  // of the trace and of computed_
  std::vector<DrawnTable> tables_;    // by DrawnFrom
  std::vector<TimelineRow> rows_;
  // Indexes in rows_.
  std::vector<uint32_t> row_of_stream_;                                           // by StreamId
  std::vector<uint32_t> row_of_thread_, row_of_others_, row_of_gpu_annotations_;  // by TrackId
};

}  // namespace tacho

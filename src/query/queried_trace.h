#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/device/graph_annotations.h"
#include "analysis/device/in_flight.h"
#include "analysis/host/op_device_time.h"
#include "analysis/prepared_trace.h"

namespace tacho {

// The tables of a trace that hold slices, in the order in which slices get their ids.
enum class SlicesOf : uint8_t {
  kGpu,
  kHostOps,
  kHostCalls,
  kAnnotations,
  kGpuAnnotations,
  kOthers,
  kPythonFrames,
};
inline constexpr size_t kSliceTables = 7;

// One trace with the data from which the SQL tables are computed. Data that few queries need is
// computed when it is first used, and kept. Not thread-safe.
class QueriedTrace {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // `path`: the trace's path in results. `prepared`: made from the whole of `trace`. `classifier`
  // must outlive this object.
  QueriedTrace(std::string path, std::unique_ptr<const Trace> trace, PreparedTrace prepared,
               const Classifier& classifier, std::optional<InFlight> in_flight);
  QueriedTrace(const QueriedTrace&) = delete;
  QueriedTrace& operator=(const QueriedTrace&) = delete;

  // Sets the trace's number in the run, the number of slices in the traces before it, and its
  // analysis, which must outlive this object.
  void Place(uint32_t number, int64_t ids_before, const TraceAnalysis& analysis);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] std::string_view Text(StringId id) const { return trace_->Text(id); }
  [[nodiscard]] const PreparedTrace& prepared() const { return prepared_; }
  [[nodiscard]] const Classifier& classifier() const { return *classifier_; }
  [[nodiscard]] uint32_t number() const { return number_; }
  [[nodiscard]] const TraceAnalysis& analysis() const { return *analysis_; }

  [[nodiscard]] const SliceTable& Slices(SlicesOf table) const;
  // The rows of a table by track, or, for GPU work, by stream.
  [[nodiscard]] const LaneRows& Lanes(SlicesOf table) const;
  // The id of a slice. Ids count from 1 through all traces of a run, table by table.
  [[nodiscard]] int64_t IdOf(SlicesOf table, uint32_t row) const {
    return first_id_[static_cast<size_t>(table)] + row;
  }
  struct Slice {
    SlicesOf table = SlicesOf::kGpu;
    uint32_t row = 0;
  };
  [[nodiscard]] std::optional<Slice> FindId(int64_t id) const;
  [[nodiscard]] int64_t ids_end() const { return first_id_.back(); }
  [[nodiscard]] ArgsOf ArgsOfSlice(Slice slice) const;

  // The number, from 1, of the step that covers `t` on the host, or in which a piece of GPU work
  // was launched. 0: there is none, or it is unknown.
  [[nodiscard]] uint32_t StepAt(TimeNs t) const;
  [[nodiscard]] uint32_t StepOfWork(uint32_t gpu_row) const;
  // The operator that launched a piece of work, or the innermost one around a call or around
  // another operator. kNone: there is none.
  [[nodiscard]] uint32_t OpOfWork(uint32_t gpu_row) const;  // row of host_ops
  [[nodiscard]] uint32_t OpOfCall(uint32_t call) const;     // row of host_ops
  [[nodiscard]] uint32_t ParentOfOp(uint32_t op) const;     // row of host_ops
  // How many pieces of GPU work the call launched.
  [[nodiscard]] uint32_t PiecesOfCall(uint32_t call) const;
  // The time from the end of the call that launched a piece of GPU work to the start of that work,
  // at least 0. Absent if the call is unknown, if host and device have no common clock, or if the
  // file mixes several ranks.
  [[nodiscard]] std::optional<DurationNs> DelayOf(uint32_t gpu_row) const;
  struct OpTimes {
    int64_t self_ns, device_self_ns, device_ns;
  };
  [[nodiscard]] std::optional<OpTimes> TimesOfOp(uint32_t op) const;

  [[nodiscard]] const GraphAnnotations& annotations() const;

  // The short name to show, and the category, for a kernel's name.
  [[nodiscard]] std::string_view ShortName(StringId name) const;
  [[nodiscard]] WorkCategory CategoryOf(StringId name) const;

  struct Gap {
    IdleStretch part;
    uint32_t gap = 0;  // index in Gaps::whole; the same for all parts of a gap
  };
  struct Gaps {
    std::vector<Gap> parts;
    std::vector<Interval> whole;
  };
  // The idle time of all devices, in parts by cause.
  [[nodiscard]] const Gaps& gaps() const;
  // The work that ends the gap; null if none does.
  [[nodiscard]] const WorkItem* EndOf(const Gap& gap) const;
  // The slice that `item` stands for.
  [[nodiscard]] Slice SliceOf(const WorkItem& item) const;
  [[nodiscard]] uint32_t StepOf(const WorkItem& item) const;  // 0: none, or unknown

 private:
  struct Ops {
    OpTree tree;
    DeviceNs device;
    std::vector<uint32_t> node_of_op;   // by row of host_ops
    std::vector<uint32_t> node_of_gpu;  // by row of gpu
  };
  const Ops& ops() const;

  std::string path_;
  std::unique_ptr<const Trace> trace_;
  PreparedTrace prepared_;
  const Classifier* classifier_;
  std::optional<InFlight> in_flight_;
  StepFinder steps_;
  uint32_t number_ = 0;
  std::array<int64_t, kSliceTables + 1> first_id_{};
  const TraceAnalysis* analysis_ = nullptr;

  mutable std::optional<Ops> ops_;
  mutable std::optional<Gaps> gaps_;
  mutable std::optional<GraphAnnotations> annotations_;
  mutable std::vector<uint32_t> pieces_;                         // by call; empty: not counted yet
  mutable std::vector<std::optional<std::string>> short_names_;  // by StringId
  mutable std::vector<std::optional<WorkCategory>> categories_;  // by StringId
};

// The traces of a query and the results of their analysis.
struct QueriedRun {
  RunAnalysis analysis;
  std::vector<std::unique_ptr<QueriedTrace>> traces;  // in the order of `analysis`

  // Sorts `kept` into the order of the traces in `analysis`, and drops traces that `analysis` does
  // not have.
  static std::unique_ptr<QueriedRun> Of(RunAnalysis analysis,
                                        std::vector<std::unique_ptr<QueriedTrace>> kept);

  struct Found {
    const QueriedTrace* trace = nullptr;  // null: there is no such slice
    QueriedTrace::Slice slice = {};
  };
  [[nodiscard]] Found Find(int64_t id) const;
};

}  // namespace tacho

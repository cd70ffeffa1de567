#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/device/missing_work.h"
#include "analysis/facts.h"
#include "analysis/ranks/ranks.h"
#include "model/begin_end.h"
#include "model/device_rows.h"
#include "model/event.h"
#include "model/trace.h"

namespace tacho {

// Totals of a trace, computed without storing it: each event is counted and forgotten. Memory grows
// only with the number of distinct names, tracks and open begin events. Figures that need several
// events at once (unions, links) are not computed.
class SummarySink : public EventSink {
 public:
  struct NameTotal {
    uint64_t count = 0;
    DurationNs total, min, max;
  };
  struct DeviceTotal {
    uint64_t gpu_events = 0;
    DurationNs sum;
    Interval window;
  };

  TraceBasics& basics() override { return basics_; }
  [[nodiscard]] bool wants_args() const override { return false; }
  void OnEvent(const Event& event) override;

  // Call it after the last event. Adds notes for begin events without an end. Also finds out the
  // meaning of rows that could not be counted before the name of their process was known
  // (model/device_rows.h).
  void Finish() {
    open_.Finish(basics_.notes);
    open_ranges_.Finish(basics_.notes);
    SortWaiting();
  }

  [[nodiscard]] const TraceBasics& basics() const { return basics_; }
  [[nodiscard]] Interval span() const { return span_; }
  // By name of the kernel, memcpy or memset.
  [[nodiscard]] const std::unordered_map<StringId, NameTotal>& gpu() const { return gpu_; }
  [[nodiscard]] const std::unordered_map<StringId, NameTotal>& host_ops() const {
    return host_ops_;
  }
  [[nodiscard]] const std::unordered_map<StringId, DeviceTotal>& devices() const {
    return devices_;
  }

  [[nodiscard]] RecordedWork work() const;

 private:
  void AddSlice(const Event& event);

  TraceBasics basics_;
  Interval span_;
  bool any_slice_ = false;
  uint64_t host_calls_ = 0;
  // By StringId: whether an annotation has this name; whether a call has it.
  std::vector<bool> annotations_, calls_;
  std::vector<bool> callers_;  // by TrackId: whether a call was made on this track
  BeginEndPairs open_;
  RangePairs open_ranges_;
  // Rows whose meaning depends on the name of their process, which may come later in the file. They
  // are added up in groups. All rows of a group have the same meaning.
  struct WaitingTotal {
    WaitingRow of;
    StringId type{}, name{};
    NameTotal total;
    Interval window;
  };
  void SortWaiting();

  std::map<std::tuple<CategoryId, bool, TrackId, StringId, StringId>, WaitingTotal> waiting_;
  std::unordered_map<StringId, NameTotal> gpu_, host_ops_;
  std::unordered_map<StringId, DeviceTotal> devices_;
};

// What `--summary` reports about one trace: totals, each list in the order in which it is shown.
struct TraceSummary {
  struct NameRow {
    std::string name;
    uint64_t count = 0;
    DurationNs total, min, max;
  };
  struct DeviceRow {
    std::string device;
    uint64_t gpu_events = 0;
    DurationNs sum;
    Interval window;
  };
  std::string path;
  uint64_t bytes = 0, json_bytes = 0;
  TraceHeader header;
  TraceFacts facts;                                       // from WhoWrote
  std::optional<int64_t> rank, world_size, base_time_ns;  // from the header
  Interval span;
  uint64_t events = 0;
  std::vector<std::pair<std::string, uint64_t>> by_phase, by_category;
  Notes notes;
  std::vector<DeviceRow> devices;  // sorted by id, numeric ids first
  // Kernels, copies and memsets, sorted by total time, longest first, then by name.
  std::vector<NameRow> gpu_work;
  std::vector<NameRow> host_ops;
};
// Fills all members but `path` and the sizes. `path`: its name may tell what the file is.
TraceSummary Summarized(const SummarySink& sink, std::string_view path = {});

struct RunSummary {
  std::vector<TraceSummary> traces;  // sorted by path
  std::vector<std::string> skipped, captures;
  // As in RunAnalysis, but the table only tells which ranks there are.
  RankTable ranks;
  std::vector<std::string> unproven;
};

}  // namespace tacho

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

// Totals of a trace, computed without a model of it: a sink that forgets each event after counting
// it. Memory grows with the number of distinct names, tracks and open begin events only. No unions,
// no links: what needs more than one event at a time is absent.
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

  // To be called after the last event. Notes begin events that no end event closed. Decides what
  // the waiting rows of devices (model/device_rows.h) are, by the names of their processes.
  void Finish() {
    open_.Finish(basics_.notes);
    open_ranges_.Finish(basics_.notes);
    SortWaiting();
  }

  [[nodiscard]] const TraceBasics& basics() const { return basics_; }
  [[nodiscard]] Interval span() const { return span_; }
  // By kernel name; memcpy and memset under their names too.
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
  // By StringId: whether an annotation, or a call, has this name.
  std::vector<bool> annotations_, calls_;
  std::vector<bool> callers_;  // by TrackId: whether a call was made there
  BeginEndPairs open_;
  RangePairs open_ranges_;
  // Rows whose meaning depends on their process, added up by what may tell them apart.
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

// What `--summary` keeps of one trace: totals, in the order in which they are shown.
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
  TraceFacts facts;                                       // by WhoWrote
  std::optional<int64_t> rank, world_size, base_time_ns;  // of the header
  Interval span;
  uint64_t events = 0;
  std::vector<std::pair<std::string, uint64_t>> by_phase, by_category;
  Notes notes;
  std::vector<DeviceRow> devices;  // by id, numbers first
  std::vector<NameRow> gpu_work;  // kernels, copies and memsets; by total, longest first, then name
  std::vector<NameRow> host_ops;
};
// Fills all but path and sizes. `path` may say what the file is.
TraceSummary Summarized(const SummarySink& sink, std::string_view path = {});

struct RunSummary {
  std::vector<TraceSummary> traces;  // by path
  std::vector<std::string> skipped, captures;
  // As in RunAnalysis; the table says only which ranks there are.
  RankTable ranks;
  std::vector<std::string> unproven;
};

}  // namespace tacho

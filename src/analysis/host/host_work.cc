#include "analysis/host/host_work.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/index/gpu_scope.h"
#include "analysis/index/sorted_ids.h"
#include "analysis/steps/steps.h"
#include "model/nesting.h"

namespace tacho {
namespace {

// What the classifier's rules say about an operator's name.
struct OperatorKind {
  WorkCategory category = Classifier::kUnclassified;
  bool is_bookkeeping = false;
  bool is_wrapper = false;
};

// Caches the kinds: the rules are asked once for each name.
class OperatorKinds {
 public:
  OperatorKinds(const Trace& trace, const Classifier& classifier)
      : trace_(trace), classifier_(classifier), known_(trace.words.strings.size()) {}

  const OperatorKind& operator[](StringId name) {
    Known& known = known_[Index(name)];
    if (!std::exchange(known.asked, true)) {
      const std::string_view text = trace_.Text(name);
      known.kind.category = classifier_.OfOperator(text);
      known.kind.is_bookkeeping =
          classifier_.categories()[known.kind.category].starts_with("bookkeeping");
      known.kind.is_wrapper = classifier_.IsWrapper(text);
    }
    return known.kind;
  }

 private:
  struct Known {
    bool asked = false;
    OperatorKind kind;
  };
  const Trace& trace_;
  const Classifier& classifier_;
  std::vector<Known> known_;  // indexed by StringId
};

// A stretch in which an operator ran its own code: before, between or after the operators that it
// calls.
struct OwnStretch {
  Interval when;
  uint32_t row = 0;  // row of Trace::host_ops
  // Not the operator's first stretch, which begins when the operator begins.
  bool continued = false;
};

// Finds all stretches in which an operator's own code counts as work.
std::vector<OwnStretch> FindOwnWork(const TrackIndex& index, OperatorKinds& kinds) {
  const HostOpTable& ops = index.trace().host_ops;
  constexpr uint32_t kNone = 0xffffffff;
  struct Call {
    uint32_t around = kNone;
    TimeNs reach{};  // the latest end of the operators inside it so far
    bool has_stretch = false;
    bool calls_work = false;
  };
  std::vector<Call> calls(ops.size());
  std::vector<OwnStretch> stretches;
  stretches.reserve(ops.size());
  const auto run_until = [&](uint32_t row, TimeNs end) {
    Call& call = calls[row];
    if (call.has_stretch && end <= call.reach) return;
    stretches.push_back({{call.reach, end}, row, call.has_stretch});
    call.has_stretch = true;
  };
  const std::vector<bool> training = TrainingStepNames(index.trace());
  const auto is_step = [&](uint32_t row) {
    return !training.empty() && training[Index(ops.name[row])];
  };
  std::vector<HostRows> tables;
  tables.emplace_back(SliceKind::kHostOp, index.host_ops());
  WalkHostSlices(tables, kNone, [&](const HostSlice& op, uint32_t around) {
    if (is_step(op.row)) return around;
    calls[op.row].around = around;
    calls[op.row].reach = op.when.start;
    if (around != kNone) {
      run_until(around, op.when.start);
      calls[around].reach = std::max(calls[around].reach, op.when.end);
    }
    if (kinds[ops.name[op.row]].is_bookkeeping) return op.row;
    for (uint32_t up = around; up != kNone && !calls[up].calls_work; up = calls[up].around) {
      calls[up].calls_work = true;
    }
    return op.row;
  });
  for (uint32_t row = 0; row < ops.size(); ++row) {
    if (!is_step(row)) run_until(row, ops.When(row).end);
  }
  std::erase_if(stretches, [&](const OwnStretch& stretch) {
    return calls[stretch.row].calls_work && kinds[ops.name[stretch.row]].is_wrapper;
  });
  return stretches;
}

// The executing thread of each process that has a thread with working operators.
std::map<ProcessId, TrackId> FindExecutors(const Trace& trace,
                                           const std::vector<OwnStretch>& stretches,
                                           OperatorKinds& kinds) {
  const HostOpTable& ops = trace.host_ops;
  std::vector<DurationNs> time_of_track(trace.words.tracks().size());
  std::vector<bool> works(trace.words.tracks().size(), false);
  for (const OwnStretch& stretch : stretches) {
    const size_t track = Index(ops.track[stretch.row]);
    time_of_track[track] += stretch.when.length();
    if (!kinds[ops.name[stretch.row]].is_bookkeeping) works[track] = true;
  }
  // If two threads have the same time, the smaller thread id wins, so that the order of the file
  // does not matter.
  const auto longer = [&](TrackId a, TrackId b) {
    const DurationNs x = time_of_track[Index(a)], y = time_of_track[Index(b)];
    return x != y ? x > y : IdLess(trace.Text(trace.words[a].tid), trace.Text(trace.words[b].tid));
  };
  std::map<ProcessId, TrackId> executors;
  for (size_t i = 0; i < time_of_track.size(); ++i) {
    if (!works[i]) continue;
    const auto track = static_cast<TrackId>(i);
    const auto [at, added] = executors.try_emplace(trace.words[track].process, track);
    if (!added && longer(track, at->second)) at->second = track;
  }
  return executors;
}

// The work of one process of a CPU engine.
struct ProcessWork {
  std::vector<OwnStretch> stretches;  // of its executing thread
  std::vector<uint32_t> comms;        // annotations of collectives on its other threads
};

std::map<ProcessId, ProcessWork> WorkByProcess(const Trace& trace, const Classifier& classifier,
                                               OperatorKinds& kinds,
                                               const std::vector<OwnStretch>& stretches,
                                               const std::map<ProcessId, TrackId>& executors) {
  std::map<ProcessId, ProcessWork> work;
  std::vector<ProcessWork*> of_track(trace.words.tracks().size(), nullptr);
  std::vector<bool> executes(of_track.size(), false);
  for (size_t i = 0; i < of_track.size(); ++i) {
    const ProcessId process = trace.words.tracks()[i].process;
    const auto executor = executors.find(process);
    if (executor == executors.end()) continue;
    of_track[i] = &work[process];
    executes[i] = Index(executor->second) == i;
  }
  for (const OwnStretch& stretch : stretches) {
    const size_t track = Index(trace.host_ops.track[stretch.row]);
    if (executes[track]) of_track[track]->stretches.push_back(stretch);
  }
  for (uint32_t row = 0; row < trace.annotations.size(); ++row) {
    const size_t track = Index(trace.annotations.track[row]);
    if (of_track[track] == nullptr || executes[track]) continue;
    if (classifier.IsCommunication(kinds[trace.annotations.name[row]].category)) {
      of_track[track]->comms.push_back(row);
    }
  }
  return work;
}

bool Before(const WorkItem& a, const WorkItem& b) {
  if (a.when.start != b.when.start) return a.when.start < b.when.start;
  if (a.when.end != b.when.end) return a.when.end < b.when.end;
  return a.row < b.row;
}

// The device that stands for one process of a CPU engine.
DeviceItems CollectProcess(const Trace& trace, const Classifier& classifier, const Scope& scope,
                           OperatorKinds& kinds, const ProcessWork& work, TrackId executor) {
  const HostOpTable& ops = trace.host_ops;
  const SliceTable& annotations = trace.annotations;
  DeviceItems device;
  device.executor = executor;
  std::vector<TrackId> tracks;  // the track of each item, for the streams
  const auto add = [&](const SliceTable& table, size_t row, size_t first_row, Interval when,
                       bool continued) {
    const WorkCategory category = kinds[table.name[row]].category;
    device.items.push_back({.when = when,
                            .name = table.name[row],
                            .row = static_cast<uint32_t>(first_row + row),
                            .stream = Index(table.track[row]),
                            .category = category,
                            .kind = classifier.IsCommunication(category) ? WorkKind::kCommunication
                                                                         : WorkKind::kCompute,
                            .continued = continued});
  };
  for (const OwnStretch& own : work.stretches) add(ops, own.row, 0, own.when, own.continued);
  for (const uint32_t row : work.comms)
    add(annotations, row, ops.size(), annotations.When(row), false);

  SortedIds streams;
  const auto stream_id = [&](uint32_t track) {
    return trace.Text(trace.words[static_cast<TrackId>(track)].tid);
  };
  for (const WorkItem& item : device.items) {
    if (tracks.empty() || Index(tracks.back()) != item.stream) {
      tracks.push_back(static_cast<TrackId>(item.stream));
    }
  }
  std::ranges::sort(tracks);
  tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
  for (const TrackId track : tracks) streams.Add(stream_id(Index(track)));
  streams.Sort();
  device.streams = streams.ids();
  std::erase_if(device.items, [&](const WorkItem& item) { return !Touches(scope, item.when); });
  for (WorkItem& item : device.items) item.stream = streams.IndexOf(stream_id(item.stream));
  std::ranges::sort(device.items, Before);
  if (!device.items.empty()) {
    device.extent = device.items.front().when;
    for (const WorkItem& item : device.items) {
      device.extent.end = std::max(device.extent.end, item.when.end);
    }
  }
  return device;
}

}  // namespace

DeviceWork CollectHostWork(const TrackIndex& index, const Classifier& classifier,
                           const Scope& scope) {
  const Trace& trace = index.trace();
  OperatorKinds kinds(trace, classifier);
  const std::vector<OwnStretch> stretches = FindOwnWork(index, kinds);
  const std::map<ProcessId, TrackId> executors = FindExecutors(trace, stretches, kinds);
  const std::map<ProcessId, ProcessWork> of_process =
      WorkByProcess(trace, classifier, kinds, stretches, executors);
  DeviceWork work;
  work.on_host = !executors.empty();
  if (work.on_host) work.own_time.resize(trace.host_ops.size());
  for (const OwnStretch& stretch : stretches) {
    if (work.on_host) work.own_time[stretch.row] += stretch.when.length();
  }
  for (const auto& [process, executor] : executors) {
    const std::string id =
        executors.size() == 1 ? "cpu" : std::string(trace.Text(trace.words[process].id));
    if (!scope.device.empty() && scope.device != id) continue;
    work.devices.push_back(
        CollectProcess(trace, classifier, scope, kinds, of_process.at(process), executor));
    work.devices.back().device = id;
  }
  std::ranges::sort(work.devices, IdLess, &DeviceItems::device);
  return work;
}

}  // namespace tacho

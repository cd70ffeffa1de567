#include "analysis/ranks/merged_ranks.h"

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "analysis/device/missing_work.h"
#include "analysis/index/dense_index.h"
#include "analysis/index/name_index.h"
#include "analysis/index/ranked_ids.h"

namespace tacho {
namespace {

// Up to this many launches of a trace may repeat an earlier correlation: damage can copy an event.
constexpr size_t kFewCopies = 1;

// By host call: whether it launches work, and the producer gives each launch its own correlation.
std::vector<uint8_t> FindLaunches(const Trace& trace) {
  const HostCallTable& calls = trace.host_calls;
  NameIndex names(trace);
  std::vector<uint8_t> of_name, of_call(calls.size());
  for (size_t row = 0; row < calls.size(); ++row) {
    const uint32_t number = names[calls.name[row]];
    if (number == of_name.size()) of_name.push_back(LaunchesWork(trace.Text(calls.name[row])));
    const bool counts =
        calls.correlation[row] >= 0 && trace.words[calls.category[row]].meaning.known;
    of_call[row] = counts ? of_name[number] : 0;
  }
  return of_call;
}

ProcessId ProcessOf(const Trace& trace, TrackId track) { return trace.words[track].process; }

}  // namespace

RanksInside FindRanksInside(const Trace& trace) {
  if (trace.header.format != TraceFormat::kKineto) return RanksInside::kOne;
  const HostCallTable& calls = trace.host_calls;
  const GpuTable& gpu = trace.gpu;
  const std::vector<uint8_t> launches = FindLaunches(trace);
  const RankedIds ids(trace);
  const auto id_of = [&](size_t row) { return ids.Of(calls.track[row], calls.correlation[row]); };
  DenseIndex first(calls.size(), id_of);
  std::set<std::pair<StringId, ProcessId>> processes;  // by rank
  size_t copies = 0;
  for (uint32_t row = 0; row < calls.size(); ++row) {
    if (launches[row] == 0) continue;
    const ProcessId process = ProcessOf(trace, calls.track[row]);
    processes.emplace(trace.words.RankOf(calls.track[row]), process);
    uint32_t& known = first[id_of(row)];
    if (known == DenseIndex::kNone) {
      known = row;
      continue;
    }
    if (ProcessOf(trace, calls.track[known]) != process) return RanksInside::kMixed;
    if (calls.name[known] == calls.name[row]) ++copies;
  }
  if (copies > kFewCopies) return RanksInside::kMixed;

  // By device: the processes named by its rows, and the processes that launched its work.
  std::vector<std::set<ProcessId>> rows_of(trace.words.strings.size());
  std::vector<std::set<ProcessId>> launchers_of(trace.words.strings.size());
  TrackId last_track{};
  StreamId last_stream{};
  for (size_t row = 0; row < gpu.size(); ++row) {
    const size_t device = Index(trace.words[gpu.stream[row]].device);
    if (row == 0 || gpu.track[row] != last_track || gpu.stream[row] != last_stream) {
      rows_of[device].insert(ProcessOf(trace, gpu.track[row]));
    }
    last_track = gpu.track[row];
    last_stream = gpu.stream[row];
    if (processes.size() < 2) continue;
    const uint32_t call = first.Find(ids.Of(gpu.track[row], gpu.correlation[row]));
    if (call != DenseIndex::kNone) {
      launchers_of[device].insert(ProcessOf(trace, calls.track[call]));
    }
  }
  for (size_t device = 0; device < rows_of.size(); ++device) {
    if (rows_of[device].size() > 1 || launchers_of[device].size() > 1) return RanksInside::kMixed;
  }
  std::set<StringId> ranks;
  for (const auto& [rank, process] : processes) ranks.insert(rank);
  return processes.size() > ranks.size() ? RanksInside::kApart : RanksInside::kOne;
}

}  // namespace tacho

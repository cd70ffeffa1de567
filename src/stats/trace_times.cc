#include "stats/trace_times.h"

#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tacho {
namespace {

struct IdHash {
  size_t operator()(const std::tuple<StringId, StringId, int64_t>& ids) const {
    uint64_t hash = 0;
    for (const uint64_t id :
         {static_cast<uint64_t>(std::get<0>(ids)), static_cast<uint64_t>(std::get<1>(ids)),
          static_cast<uint64_t>(std::get<2>(ids))})
      hash = (hash ^ id) * 0x9e3779b97f4a7c15;
    return static_cast<size_t>(hash ^ hash >> 32);
  }
};

// Finds the entries of one trace in a list of WorkTimes by their ids.
template <typename Entry>
class EntriesById {
 public:
  explicit EntriesById(std::vector<Entry>& entries) : entries_(entries) {}

  template <typename Make>
  Entry& Get(StringId a, StringId b, int64_t c, const Make& make) {
    const auto [known, added] = index_.try_emplace({a, b, c}, entries_.size());
    if (added) entries_.push_back(make());
    return entries_[known->second];
  }

 private:
  std::vector<Entry>& entries_;
  std::unordered_map<std::tuple<StringId, StringId, int64_t>, size_t, IdHash> index_;
};

// A single list, for values of one trace.
WorkTimes::Lists OneList() {
  WorkTimes::Lists lists;
  lists.emplace_back();
  return lists;
}

void AddGpuTimes(const StatsTrace& stats, bool details, WorkTimes& times) {
  const Trace& trace = stats.trace();
  const GpuTable& gpu = trace.gpu;
  EntriesById kernels(times.kernels);
  EntriesById memory(times.memory);
  const ArgReader bytes(trace, "bytes");
  for (uint32_t row = 0; row < gpu.size(); ++row) {
    const StringId name = gpu.name[row];
    if (gpu.kind[row] != SliceKind::kKernel) {
      auto& entry = memory.Get(name, {}, static_cast<int64_t>(gpu.kind[row]), [&] {
        return WorkTimes::MemoryWork{gpu.kind[row], std::string(stats.Text(name)), OneList(),
                                     OneList()};
      });
      entry.ns[0].push_back(gpu.duration[row]);
      const auto size = details ? bytes.Integer(GpuArgs(trace, row)) : std::nullopt;
      if (size) entry.bytes[0].push_back(*size);
    } else if (stats.IsKernel(row)) {
      const LaunchId launch = details ? gpu.launch[row] : LaunchId::kNone;
      auto& entry = kernels.Get(name, {}, static_cast<int64_t>(launch), [&] {
        const LaunchSizes& sizes = trace.words[launch];
        return WorkTimes::Kernel{std::string(stats.Text(name)), sizes.grid, sizes.block, OneList()};
      });
      entry.ns[0].push_back(gpu.duration[row]);
    }
  }
}

void AddCallTimes(const StatsTrace& stats, WorkTimes& times) {
  const HostCallTable& table = stats.trace().host_calls;
  EntriesById calls(times.calls);
  for (uint32_t row = 0; row < table.size(); ++row) {
    const StringId name = table.name[row];
    const int64_t version = stats.VersionOf(row);
    auto& entry = calls.Get(name, {}, version, [&] {
      return WorkTimes::Call{std::string(stats.Text(name)), version, OneList()};
    });
    entry.ns[0].push_back(table.duration[row]);
  }
}

void AddOsCallTimes(const StatsTrace& stats, WorkTimes& times) {
  const Trace& trace = stats.trace();
  const OtherSliceTable& others = trace.others;
  const ArgReader event_class(trace, "event class");  // only rows that are not calls have it
  EntriesById calls(times.os_calls);
  for (uint32_t row = 0; row < others.size(); ++row) {
    if (stats.Text(trace.words[others.category[row]].name) != "osrt") continue;
    if (event_class.Integer({others.args[row]})) continue;
    const StringId name = others.name[row];
    auto& entry = calls.Get(name, {}, 0, [&] {
      return WorkTimes::OsCall{std::string(stats.Text(name)), OneList()};
    });
    entry.ns[0].push_back(others.duration[row]);
  }
}

}  // namespace

void AddTimesOf(const StatsTrace& trace, StatsTrace::Needs needs, WorkTimes& times) {
  if (needs.gpu) AddGpuTimes(trace, needs.gpu_details, times);
  if (needs.calls) AddCallTimes(trace, times);
  if (needs.os_calls) AddOsCallTimes(trace, times);
}

}  // namespace tacho

#include "analysis/ranks/rank_counts.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace tacho {

RankCounts CountRanks(const RunAnalysis& run) { return CountRanks(run, RanksOf(run)); }

RankCounts CountRanks(const RunAnalysis& run, const std::vector<const TraceAnalysis*>& traces) {
  std::map<std::string, size_t> group_of;
  for (const RankRow& row : run.ranks.rows) group_of.emplace(row.path, row.group);
  std::set<size_t> groups;
  std::set<std::pair<size_t, std::string>> devices;
  size_t next_group = run.ranks.rows.size();  // for traces outside the rank table
  bool merged = false;
  for (const TraceAnalysis* trace : traces) {
    const auto row = group_of.find(trace->path);
    const size_t group = row == group_of.end() ? next_group++ : row->second;
    groups.insert(group);
    for (const DeviceTime& device : trace->devices) devices.emplace(group, device.device);
    merged = trace->facts.role == TraceRole::kMerged;
  }
  return {.ranks = merged ? devices.size() : groups.size(), .devices = devices.size()};
}

}  // namespace tacho

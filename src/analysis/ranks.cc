#include "analysis/ranks.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tacho {
namespace {

bool IsWorker(const RankInput& input) { return input.facts->role == TraceRole::kWorker; }

// The stretch of Unix time with device work; nullopt when the file does not tell it.
std::optional<Interval> WorkTime(const RankInput& input) {
  std::optional<Interval> work;
  if (!input.base_time_ns) return work;
  for (const DeviceTime& device : *input.devices) {
    if (device.window.empty()) continue;
    const DurationNs base{*input.base_time_ns};
    const Interval window{device.window.start + base, device.window.end + base};
    if (!work) work = window;
    work = Interval{std::min(work->start, window.start), std::max(work->end, window.end)};
  }
  return work;
}

RankRow RowOf(const RankInput& input) {
  RankRow row;
  row.path = input.path;
  row.rank = input.facts->rank;
  row.steps = input.steps;
  row.kernel_sum = input.kernel_sum;
  for (const DeviceTime& device : *input.devices) {
    row.window += device.window.length();
    row.busy += device.busy;
    row.idle += device.idle;
    row.compute += device.compute;
    row.exposed_comm += device.exposed_comm;
    row.exposed_copy += device.exposed_copy;
    row.comm_busy += device.comm_busy;
  }
  if (const auto work = WorkTime(input)) row.start_unix_ns = work->start.ns;
  return row;
}

// Files that belong to one rank of one engine: indexes into the workers. An engine that profiles by
// stage writes one file for each stage of a rank, which are compared with other ranks as one.
std::vector<std::vector<size_t>> GroupByRank(const std::vector<RankInput>& workers) {
  using Key = std::tuple<int64_t, std::vector<std::string>>;  // rank and processes
  std::map<Key, std::vector<size_t>> same;
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < workers.size(); ++i) {
    const TraceFacts& facts = *workers[i].facts;
    if (facts.rank) {
      same[{*facts.rank, facts.process_names}].push_back(i);
    } else {
      groups.push_back({i});
    }
  }
  for (auto& [key, files] : same) {
    std::set<std::string> stages;
    for (const size_t i : files) {
      if (!workers[i].facts->stage.empty()) stages.insert(workers[i].facts->stage);
    }
    if (stages.size() == files.size()) {
      groups.push_back(std::move(files));
    } else {
      for (const size_t i : files) groups.push_back({i});
    }
  }
  return groups;
}

// Warns of several files that claim the same place in the same stage.
void WarnOfEqualRanks(const std::vector<RankInput>& workers, RankTable& table) {
  std::map<std::tuple<int64_t, int64_t, std::string>, std::vector<size_t>> claims;
  size_t without_rank = 0;
  for (size_t i = 0; i < workers.size(); ++i) {
    const TraceFacts& facts = *workers[i].facts;
    if (facts.rank) {
      claims[{*facts.rank, facts.world_size.value_or(-1), facts.stage}].push_back(i);
    } else {
      ++without_rank;
    }
  }
  for (const auto& [claim, files] : claims) {
    if (files.size() < 2) continue;
    std::vector<Interval> times;
    for (const size_t i : files) {
      if (const auto work = WorkTime(workers[i])) times.push_back(*work);
    }
    std::sort(times.begin(), times.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    bool one_by_one = times.size() == files.size();
    for (size_t i = 1; i < times.size(); ++i)
      one_by_one = one_by_one && times[i - 1].end <= times[i].start;
    const auto& [rank, world_size, stage] = claim;
    std::string text = std::to_string(files.size()) + " traces say rank " + std::to_string(rank);
    if (world_size >= 0) text += " of " + std::to_string(world_size);
    if (!stage.empty()) text += " (" + stage + ")";
    text += one_by_one ? ": recorded one after the other, told apart by path"
                       : ": data-parallel engines, told apart by path";
    table.warnings.push_back(std::move(text));
  }
  if (without_rank > 0 && workers.size() > 1) {
    table.warnings.push_back(std::to_string(without_rank) +
                             (without_rank == 1 ? " trace does" : " traces do") +
                             " not say a rank: told apart by path");
  }
}

// The smallest that at least half of all do not exceed. `durations` has one or more.
DurationNs Median(std::vector<DurationNs> durations) {
  const auto middle =
      durations.begin() + static_cast<std::ptrdiff_t>((durations.size() + 1) / 2 - 1);
  std::nth_element(durations.begin(), middle, durations.end());
  return *middle;
}

// `groups` hold indexes into the rows of the table.
void CompareGroups(const std::vector<std::vector<size_t>>& groups, RankTable& table) {
  std::vector<RankRow>& rows = table.rows;
  std::optional<double> least, most;
  std::vector<DurationNs> computes;
  for (size_t group = 0; group < groups.size(); ++group) {
    DurationNs window, busy, compute;
    for (const size_t file : groups[group]) {
      rows[file].group = group;
      window += rows[file].window;
      busy += rows[file].busy;
      compute += rows[file].compute;
    }
    if (window.ns > 0) {
      const double share = static_cast<double>(busy.ns) / static_cast<double>(window.ns);
      least = std::min(least.value_or(share), share);
      most = std::max(most.value_or(share), share);
    }
    computes.push_back(compute);
  }
  table.least_busy = least.value_or(0);
  table.most_busy = most.value_or(0);
  const auto longest = std::max_element(computes.begin(), computes.end());
  if (computes.size() < 2 || longest->ns == 0) return;
  table.slowest = groups[static_cast<size_t>(longest - computes.begin())].front();
  for (const size_t file : groups[static_cast<size_t>(longest - computes.begin())]) {
    if (rows[file].compute > rows[*table.slowest].compute) table.slowest = file;
  }
  table.slowest_compute = *longest;
  computes.erase(longest);
  table.median_of_others = Median(std::move(computes));
}

// Those of 0..world_size-1 that are not in `present`, which is sorted.
void FindMissing(RankTable& table) {
  if (!table.world_size) return;
  int64_t next = 0;  // all before it are looked at
  const auto add = [&](int64_t end) {
    if (next >= end) return;
    table.missing.push_back({next, end - 1});
    table.missing_count += end - next;
  };
  for (const int64_t rank : table.present) {
    if (rank < 0 || rank >= *table.world_size) continue;
    add(rank);
    next = rank + 1;
  }
  add(*table.world_size);
}

}  // namespace

RankTable CompareRanks(const std::vector<RankInput>& inputs) {
  RankTable table;
  std::vector<size_t> workers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (IsWorker(inputs[i])) workers.push_back(i);
  }
  // By rank (none last), then path, whatever the order of the inputs: so go ties too.
  std::sort(workers.begin(), workers.end(), [&](size_t a, size_t b) {
    const auto &x = inputs[a].facts->rank, &y = inputs[b].facts->rank;
    if (x.has_value() != y.has_value()) return x.has_value();
    return x != y ? *x < *y : inputs[a].path < inputs[b].path;
  });

  std::set<int64_t> present, world_sizes;
  std::vector<RankInput> sorted;
  for (const size_t i : workers) {
    const TraceFacts& facts = *inputs[i].facts;
    if (facts.rank) present.insert(*facts.rank);
    if (facts.world_size) world_sizes.insert(*facts.world_size);
    sorted.push_back(inputs[i]);
    table.rows.push_back(RowOf(inputs[i]));
  }
  table.present.assign(present.begin(), present.end());
  if (!world_sizes.empty()) table.world_size = *world_sizes.rbegin();
  FindMissing(table);

  WarnOfEqualRanks(sorted, table);
  if (world_sizes.size() > 1) {
    std::string sizes;
    for (const int64_t size : world_sizes)
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    table.warnings.push_back("the traces name different world sizes (" + sizes +
                             "): the ranks of several engines are in one table");
  }
  CompareGroups(GroupByRank(sorted), table);
  return table;
}

}  // namespace tacho

#include "analysis/ranks/ranks.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/ranks/recordings.h"

namespace tacho {
namespace {

bool IsWorker(const RankInput& input) { return input.facts->role == TraceRole::kWorker; }

// The Unix time of the trace's device work; nullopt without device work or base time.
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
  row.identity = input.facts->identity;
  row.steps = input.steps;
  row.kernel_sum = input.kernel_sum;
  row.complete = input.complete;
  for (const DeviceTime& device : *input.devices) {
    row.whole = row.whole && device.whole;
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

// Warns about several files that claim the same rank in the same stage.
void WarnOfEqualRanks(const std::vector<RankInput>& workers, RankTable& table) {
  // Key: rank, world size, stage and the rank's name. Values: indexes of workers.
  std::map<std::tuple<int64_t, int64_t, std::string, std::string>, std::vector<size_t>> claims;
  size_t without_rank = 0;
  for (size_t i = 0; i < workers.size(); ++i) {
    const TraceFacts& facts = *workers[i].facts;
    if (facts.rank) {
      std::vector<size_t>& files = claims[{*facts.rank, facts.world_size.value_or(-1), facts.stage,
                                           facts.identity.RankName()}];
      const bool is_slice = std::ranges::any_of(
          files, [&](size_t other) { return AreSlices(workers[other], workers[i]); });
      if (!is_slice) files.push_back(i);
    } else {
      ++without_rank;
    }
  }
  for (const auto& [claim, files] : claims) {
    if (files.size() < 2) continue;
    const auto& [rank, world_size, stage, name] = claim;
    std::string text = std::to_string(files.size()) + " traces say rank " + std::to_string(rank);
    if (world_size >= 0) text += " of " + std::to_string(world_size);
    if (!stage.empty()) text += " (" + stage + ")";
    text += ": " + HowRecorded(workers, files) + "told apart by path";
    table.warnings.push_back(std::move(text));
  }
  if (without_rank > 0 && workers.size() > 1) {
    table.warnings.push_back(std::to_string(without_rank) +
                             (without_rank == 1 ? " trace does" : " traces do") +
                             " not say a rank: told apart by path");
  }
}

// Sets RankRow::adds of slices whose work overlaps, so that their common times count only once.
void CountSlicesOnce(const std::vector<RankInput>& workers, std::vector<RankRow>& rows) {
  std::set<const std::vector<DeviceTime>*> counted;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (workers[i].together == nullptr) continue;
    RankTimes& adds = rows[i].adds.emplace();
    if (!counted.insert(workers[i].together).second) continue;
    for (const DeviceTime& device : *workers[i].together) {
      adds.window += device.window.length();
      adds.busy += device.busy;
      adds.compute += device.compute;
      adds.comm_busy += device.comm_busy;
      adds.exposed_comm += device.exposed_comm;
    }
  }
}

// By recording: its ranks (groups of rows). Leaves out rows without device work, rows that are not
// whole, and rows whose flag `has` is false.
std::vector<std::vector<RankTimes>> RanksByRecording(const std::vector<RankRow>& rows,
                                                     bool RankRow::*has) {
  std::map<std::pair<size_t, size_t>, RankTimes> groups;
  size_t recordings = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RankRow& row = rows[i];
    recordings = std::max(recordings, row.recording + 1);
    if (row.window.ns <= 0 || !row.whole || !(row.*has)) continue;
    const auto [at, added] = groups.try_emplace({row.recording, row.group});
    RankTimes& rank = at->second;
    if (added || row.compute > rows[rank.row].compute) rank.row = i;
    const RankTimes adds = row.adds.value_or(
        RankTimes{i, row.window, row.busy, row.compute, row.comm_busy, row.exposed_comm});
    rank.window += adds.window;
    rank.busy += adds.busy;
    rank.compute += adds.compute;
    rank.comm_busy += adds.comm_busy;
    rank.exposed_comm += adds.exposed_comm;
  }
  std::vector<std::vector<RankTimes>> result(recordings);
  for (const auto& [key, rank] : groups) result[key.first].push_back(rank);
  return result;
}

std::string_view FolderOf(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

bool EachRankOnce(const std::vector<RankRow>& rows, const std::vector<RankTimes>& ranks) {
  std::set<std::optional<int64_t>> numbers;
  return std::ranges::all_of(
      ranks, [&](const RankTimes& rank) { return numbers.insert(rows[rank.row].rank).second; });
}

// The ranks that can wait for each other. All of them if each claims a different rank. If some are
// replicas of each other, only those in `folder`, or none if that folder has replicas too.
std::vector<RankTimes> OneEngine(const std::vector<RankRow>& rows, std::vector<RankTimes> ranks,
                                 std::string_view folder) {
  if (EachRankOnce(rows, ranks)) return ranks;
  std::erase_if(ranks,
                [&](const RankTimes& rank) { return FolderOf(rows[rank.row].path) != folder; });
  if (!EachRankOnce(rows, ranks)) ranks.clear();
  return ranks;
}

// The lower median over all `ranks` except index `without`: the smallest time that at least half of
// these ranks do not exceed. `ranks` has two or more entries.
DurationNs MedianOfOthers(const std::vector<RankTimes>& ranks, size_t without,
                          DurationNs RankTimes::*figure) {
  std::vector<DurationNs> others;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i != without) others.push_back(ranks[i].*figure);
  }
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>((others.size() - 1) / 2);
  std::nth_element(others.begin(), middle, others.end());
  return *middle;
}

// The index of the rank with the longest compute time, the first if several have it. `ranks` has
// one or more entries.
size_t LongestComputing(const std::vector<RankTimes>& ranks) {
  return static_cast<size_t>(std::ranges::max_element(ranks, {}, &RankTimes::compute) -
                             ranks.begin());
}

void CompareBusy(const std::vector<RankTimes>& ranks, RankTable& table) {
  const auto share = [](const RankTimes& rank) {
    return static_cast<double>(rank.busy.ns) / static_cast<double>(rank.window.ns);
  };
  // Not a view of ranges, because clang 14 cannot compile those of libstdc++ 12.
  const auto [least_busy, most_busy] = std::ranges::minmax_element(ranks, {}, share);
  const double least = share(*least_busy), most = share(*most_busy);
  const bool first = table.recordings++ == 0;
  table.least_busy_of_all = first ? least : std::min(table.least_busy_of_all, least);
  table.most_busy_of_all = first ? most : std::max(table.most_busy_of_all, most);
  if (!first && most - least <= table.busy_spread()) return;
  table.least_busy = least;
  table.most_busy = most;
}

// Each entry of `groups` has the indexes of one rank's workers, which are also indexes of rows.
void CompareGroups(const std::vector<RankInput>& workers,
                   const std::vector<std::vector<size_t>>& groups, RankTable& table) {
  const std::vector<std::vector<size_t>> recordings = RecordingsOf(workers, groups);
  for (size_t recording = 0; recording < recordings.size(); ++recording) {
    for (const size_t group : recordings[recording]) {
      for (const size_t row : groups[group]) {
        table.rows[row].group = group;
        table.rows[row].recording = recording;
      }
    }
  }
  for (const std::vector<RankTimes>& ranks : RanksByRecording(table.rows, &RankRow::whole)) {
    if (!ranks.empty()) CompareBusy(ranks, table);
  }
  size_t most_ranks = 1;
  for (const std::vector<RankTimes>& ranks : RanksByRecording(table.rows, &RankRow::complete)) {
    if (ranks.empty()) continue;
    const size_t longest = LongestComputing(ranks);
    const DurationNs compute = ranks[longest].compute;
    if (ranks.size() < 2 || ranks.size() < most_ranks || compute.ns == 0) continue;
    if (ranks.size() == most_ranks && compute <= table.slowest_compute) continue;
    most_ranks = ranks.size();
    table.slowest = ranks[longest].row;
    table.slowest_compute = compute;
    table.median_of_others = MedianOfOthers(ranks, longest, &RankTimes::compute);
  }
  if (table.recordings > 1 && (table.slowest || table.warnings.empty())) {
    table.warnings.push_back("the traces are of " + std::to_string(table.recordings) +
                             " recordings: ranks are compared within each");
  }
}

// The ranks in 0..world_size-1 that fewer than `engines` traces claim. `claims`: by rank, the
// number of traces that claim it.
MissingRanks MissingOf(const std::string& worker, int64_t world_size, int64_t engines,
                       const std::map<int64_t, int64_t>& claims) {
  MissingRanks missing{worker, world_size, engines, {}, 0};
  const auto add = [&](int64_t first, int64_t last, int64_t times) {
    if (first > last) return;
    if (!missing.ranks.empty() && missing.ranks.back().last + 1 == first) {
      missing.ranks.back().last = last;
    } else {
      missing.ranks.push_back({first, last});
    }
    for (; times > 0; --times) missing.count = AddSaturated(missing.count, last - first + 1);
  };
  int64_t next = 0;  // first rank that is not yet checked
  for (const auto& [rank, claimed] : claims) {
    add(next, rank - 1, engines);
    if (claimed < engines) add(rank, rank, engines - claimed);
    next = rank + 1;
  }
  add(next, world_size - 1, engines);
  return missing;
}

// `groups` as in CompareGroups, which must have set the recordings of the rows.
void CountRanks(const std::vector<std::vector<size_t>>& groups, RankTable& table) {
  // How many traces claim a rank, by (worker, world size), then recording, then rank.
  std::map<std::pair<std::string, int64_t>, std::map<size_t, std::map<int64_t, int64_t>>> all;
  for (const std::vector<size_t>& files : groups) {
    const RankRow& row = table.rows[files.front()];
    const int64_t world_size = row.identity.world_size.value_or(0);
    if (world_size <= 0) continue;
    auto& recordings = all[{row.identity.worker, world_size}];
    if (row.rank && *row.rank >= 0 && *row.rank < world_size)
      ++recordings[row.recording][*row.rank];
  }
  for (const auto& [engine, recordings] : all) {
    // By rank: the most claims in any recording, since a second recording of a rank is no new rank.
    std::map<int64_t, int64_t> claims;
    int64_t engines = 1;
    for (const auto& [recording, ranks] : recordings) {
      for (const auto& [rank, claimed] : ranks) {
        claims[rank] = std::max(claims[rank], claimed);
        engines = std::max(engines, claimed);
      }
    }
    for (const auto& [rank, claimed] : claims) table.ranks_with_trace += claimed;
    for (int64_t i = 0; i < engines; ++i)
      table.ranks_in_all = AddSaturated(table.ranks_in_all, engine.second);
    MissingRanks missing = MissingOf(engine.first, engine.second, engines, claims);
    if (missing.count > 0) table.missing.push_back(std::move(missing));
  }
}

void WarnOfGpus(const std::vector<RankInput>& workers, RankTable& table) {
  std::set<std::string> kinds;
  for (const RankInput& worker : workers) kinds.insert(worker.gpus);
  if (kinds.size() < 2) return;
  std::string text;
  for (const std::string& gpus : kinds) {
    text += (text.empty() ? "" : "; ") + (gpus.empty() ? "none named" : gpus);
  }
  table.warnings.push_back("the traces are of different GPUs (" + text +
                           "): these are not compared with each other");
}

}  // namespace

int64_t RankTable::missing_count() const {
  int64_t count = 0;
  for (const MissingRanks& each : missing) count = AddSaturated(count, each.count);
  return count;
}

RankTable CompareRanks(const std::vector<RankInput>& inputs) {
  RankTable table;
  std::vector<size_t> workers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (IsWorker(inputs[i])) workers.push_back(i);
  }
  // Sorts the workers, so that the result does not depend on the order of the inputs.
  std::sort(workers.begin(), workers.end(), [&](size_t a, size_t b) {
    const RankIdentity &x = inputs[a].facts->identity, &y = inputs[b].facts->identity;
    if (ComesBefore(x, y) || ComesBefore(y, x)) return ComesBefore(x, y);
    return inputs[a].path < inputs[b].path;
  });

  std::set<int64_t> present, world_sizes;
  std::vector<RankInput> sorted;
  for (const size_t i : workers) {
    const TraceFacts& facts = *inputs[i].facts;
    if (facts.rank) present.insert(*facts.rank);
    if (facts.world_size) world_sizes.insert(*facts.world_size);
    sorted.push_back(inputs[i]);
    table.rows.push_back(RowOf(inputs[i]));
    table.rows.back().input = i;
  }
  table.present.assign(present.begin(), present.end());
  if (!world_sizes.empty()) table.world_size = *world_sizes.rbegin();

  WarnOfEqualRanks(sorted, table);
  if (world_sizes.size() > 1) {
    std::string sizes;
    for (const int64_t size : world_sizes)
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    table.warnings.push_back("the traces name different world sizes (" + sizes +
                             "): the ranks of several engines are in one table");
  }
  WarnOfGpus(sorted, table);
  CountSlicesOnce(sorted, table.rows);
  const std::vector<std::vector<size_t>> groups = GroupByRank(sorted);
  CompareGroups(sorted, groups, table);
  CountRanks(groups, table);
  return table;
}

std::optional<Straggler> StragglerBySums(const RankTable& table) {
  if (!table.slowest) return std::nullopt;
  const RankRow& slowest_row = table.rows[*table.slowest];
  const std::vector<RankTimes> ranks =
      OneEngine(table.rows, RanksByRecording(table.rows, &RankRow::complete)[slowest_row.recording],
                FolderOf(slowest_row.path));
  if (ranks.size() < 2) return std::nullopt;
  const auto stands_out = [](DurationNs more, DurationNs window) {
    return more.ns > 0 && more.ns >= window.ns / 50;
  };
  const auto only_other = [&](size_t rank) {
    return ranks.size() == 2 ? std::optional(ranks[1 - rank].row) : std::nullopt;
  };
  const size_t longest = LongestComputing(ranks);
  const RankTimes& slowest = ranks[longest];
  DurationNs least_compute = slowest.compute, exposed;
  size_t least = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    least_compute = std::min(least_compute, ranks[i].compute);
    if (ranks[i].comm_busy < ranks[least].comm_busy) least = i;
    exposed = std::max(exposed, ranks[i].exposed_comm);
  }
  if (exposed > slowest.compute - least_compute) {
    const DurationNs others = MedianOfOthers(ranks, least, &RankTimes::comm_busy);
    const DurationNs own = ranks[least].comm_busy;
    if (!stands_out(others - own, ranks[least].window)) return std::nullopt;
    return Straggler{.sign = Straggler::Sign::kLeastCollectives,
                     .row = ranks[least].row,
                     .time = own,
                     .others = others,
                     .only_other = only_other(least)};
  }
  const DurationNs others = MedianOfOthers(ranks, longest, &RankTimes::compute);
  if (!stands_out(slowest.compute - others, slowest.window)) return std::nullopt;
  return Straggler{.sign = Straggler::Sign::kComputesLongest,
                   .row = slowest.row,
                   .time = slowest.compute,
                   .others = others,
                   .only_other = only_other(longest)};
}

}  // namespace tacho

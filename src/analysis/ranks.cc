#include "analysis/ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
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

// Files that belong to one rank of one engine: indexes into the inputs. An engine that profiles by
// stage writes one file for each stage of a rank, which are compared with other ranks as one.
std::vector<std::vector<size_t>> GroupByRank(const std::vector<RankInput>& inputs,
                                             const std::vector<size_t>& workers) {
  using Key = std::tuple<int64_t, std::vector<std::string>>;  // rank and processes
  std::map<Key, std::vector<size_t>> same;
  std::vector<std::vector<size_t>> groups;
  for (const size_t i : workers) {
    const TraceFacts& facts = *inputs[i].facts;
    if (facts.rank) {
      same[{*facts.rank, facts.process_names}].push_back(i);
    } else {
      groups.push_back({i});
    }
  }
  for (auto& [key, files] : same) {
    std::set<std::string> stages;
    for (const size_t i : files) {
      if (!inputs[i].facts->stage.empty()) stages.insert(inputs[i].facts->stage);
    }
    if (stages.size() == files.size()) {
      groups.push_back(std::move(files));
    } else {
      for (const size_t i : files) groups.push_back({i});
    }
  }
  return groups;
}

// How files of one rank come to be several.
std::string HowRecorded(const std::vector<RankInput>& inputs, const std::vector<size_t>& files) {
  std::vector<Interval> times;
  for (const size_t i : files) {
    if (const auto work = WorkTime(inputs[i])) times.push_back(*work);
  }
  if (times.size() < files.size()) return "";
  std::ranges::sort(times, {}, &Interval::start);
  size_t at_once = 0;  // that overlap another
  TimeNs reach = times.front().end;
  size_t together = 1;
  for (size_t i = 1; i <= times.size(); ++i) {
    if (i < times.size() && times[i].start < reach) {
      reach = std::max(reach, times[i].end);
      ++together;
      continue;
    }
    if (together > 1) at_once += together;
    together = 1;
    if (i < times.size()) reach = times[i].end;
  }
  if (at_once == 0) return "recorded one after the other, ";
  if (at_once == files.size()) return "data-parallel engines, ";
  return std::to_string(at_once) +
         " of them at once (data-parallel engines), the rest one after the other, ";
}

// The groups of each recording.
std::vector<std::vector<size_t>> RecordingsOf(const std::vector<RankInput>& inputs,
                                              const std::vector<std::vector<size_t>>& groups) {
  struct Span {
    int64_t world_size;
    bool has_time;
    Interval when;
    size_t group;
  };
  std::vector<Span> spans;
  for (size_t group = 0; group < groups.size(); ++group) {
    Span span{-1, false, {}, group};
    for (const size_t i : groups[group]) {
      span.world_size = std::max(span.world_size, inputs[i].facts->world_size.value_or(-1));
      const std::optional<Interval> work = WorkTime(inputs[i]);
      if (!work) continue;
      span.when = span.has_time ? Interval{std::min(span.when.start, work->start),
                                           std::max(span.when.end, work->end)}
                                : *work;
      span.has_time = true;
    }
    spans.push_back(span);
  }
  std::ranges::sort(spans, {}, [](const Span& span) {
    return std::tuple(span.world_size, span.has_time, span.when.start, span.group);
  });
  std::vector<std::vector<size_t>> recordings;
  TimeNs reach;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    const bool joins = i > 0 && spans[i - 1].world_size == span.world_size &&
                       spans[i - 1].has_time == span.has_time &&
                       (!span.has_time || span.when.start < reach);
    if (!joins) recordings.emplace_back();
    reach = joins ? std::max(reach, span.when.end) : span.when.end;
    recordings.back().push_back(span.group);
  }
  return recordings;
}

// Warns of several files that claim the same place in the same stage.
void WarnOfEqualRanks(const std::vector<RankInput>& inputs, const std::vector<size_t>& workers,
                      RankTable& table) {
  std::map<std::tuple<int64_t, int64_t, std::string>, std::vector<size_t>> claims;
  size_t without_rank = 0;
  for (const size_t i : workers) {
    const TraceFacts& facts = *inputs[i].facts;
    if (facts.rank) {
      claims[{*facts.rank, facts.world_size.value_or(-1), facts.stage}].push_back(i);
    } else {
      ++without_rank;
    }
  }
  for (const auto& [claim, files] : claims) {
    if (files.size() < 2) continue;
    const auto& [rank, world_size, stage] = claim;
    std::string text = std::to_string(files.size()) + " traces say rank " + std::to_string(rank);
    if (world_size >= 0) text += " of " + std::to_string(world_size);
    if (!stage.empty()) text += " (" + stage + ")";
    text += ": " + HowRecorded(inputs, files) + "told apart by path";
    table.warnings.push_back(std::move(text));
  }
  if (without_rank > 0 && workers.size() > 1) {
    table.warnings.push_back(std::to_string(without_rank) +
                             (without_rank == 1 ? " trace does" : " traces do") +
                             " not say a rank: told apart by path");
  }
}

struct GroupTimes {
  DurationNs window, busy, compute;
};

GroupTimes TimesOf(const std::vector<RankInput>& inputs, const std::vector<size_t>& files) {
  GroupTimes times;
  for (const size_t i : files) {
    const RankRow row = RowOf(inputs[i]);
    times.window += row.window;
    times.busy += row.busy;
    times.compute += row.compute;
  }
  return times;
}

void CompareGroups(const std::vector<RankInput>& inputs,
                   const std::vector<std::vector<size_t>>& groups, RankTable& table) {
  const std::vector<std::vector<size_t>> recordings = RecordingsOf(inputs, groups);
  std::map<std::string_view, size_t> recording_of;  // by path
  const std::vector<size_t>* slowest = nullptr;
  DurationNs longest;
  size_t most_ranks = 1;
  for (size_t recording = 0; recording < recordings.size(); ++recording) {
    std::optional<double> least, most;
    const size_t ranks = recordings[recording].size();
    for (const size_t group : recordings[recording]) {
      const GroupTimes times = TimesOf(inputs, groups[group]);
      for (const size_t i : groups[group]) recording_of[inputs[i].path] = recording;
      if (times.window.ns > 0) {
        const double share =
            static_cast<double>(times.busy.ns) / static_cast<double>(times.window.ns);
        least = std::min(least.value_or(share), share);
        most = std::max(most.value_or(share), share);
      }
      if (ranks < 2 || ranks < most_ranks || times.compute.ns == 0) continue;
      if (ranks > most_ranks || times.compute > longest) {
        longest = times.compute;
        slowest = &groups[group];
        most_ranks = ranks;
      }
    }
    if (least) table.busy_spread = std::max(table.busy_spread, *most - *least);
  }
  for (size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].recording = recording_of[table.rows[i].path];
    if (slowest == nullptr) continue;
    const bool of_slowest = std::any_of(slowest->begin(), slowest->end(), [&](size_t file) {
      return inputs[file].path == table.rows[i].path;
    });
    if (of_slowest &&
        (!table.slowest || table.rows[i].compute > table.rows[*table.slowest].compute)) {
      table.slowest = i;
    }
  }
  if (recordings.size() > 1 && slowest != nullptr) {
    table.warnings.push_back("the traces are of " + std::to_string(recordings.size()) +
                             " recordings: ranks are compared within each");
  }
}

DurationNs MedianOfOthers(const RankTable& ranks, const std::vector<size_t>& rows, size_t without,
                          DurationNs RankRow::*figure) {
  std::vector<DurationNs> others;
  for (const size_t row : rows) {
    if (row != without) others.push_back(ranks.rows[row].*figure);
  }
  std::ranges::sort(others);
  return others[others.size() / 2];
}

}  // namespace

RankTable CompareRanks(const std::vector<RankInput>& inputs) {
  RankTable table;
  std::vector<size_t> workers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (IsWorker(inputs[i])) workers.push_back(i);
  }
  // Ties in the comparison go by path, not by the order of the inputs.
  std::sort(workers.begin(), workers.end(),
            [&](size_t a, size_t b) { return inputs[a].path < inputs[b].path; });

  std::set<int64_t> present, world_sizes;
  for (const size_t i : workers) {
    const TraceFacts& facts = *inputs[i].facts;
    if (facts.rank) present.insert(*facts.rank);
    if (facts.world_size) world_sizes.insert(*facts.world_size);
    table.rows.push_back(RowOf(inputs[i]));
  }
  table.present.assign(present.begin(), present.end());
  if (!world_sizes.empty()) table.world_size = *world_sizes.rbegin();
  // A header may claim any number: more ranks than machines have are not listed one by one.
  constexpr int64_t kMostRanks = 1 << 20;
  for (int64_t rank = 0; rank < std::min(table.world_size.value_or(0), kMostRanks); ++rank) {
    if (!present.contains(rank)) table.missing.push_back(rank);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const RankRow& a, const RankRow& b) {
    if (a.rank.has_value() != b.rank.has_value()) return a.rank.has_value();
    return a.rank != b.rank ? *a.rank < *b.rank : a.path < b.path;
  });

  WarnOfEqualRanks(inputs, workers, table);
  if (world_sizes.size() > 1) {
    std::string sizes;
    for (const int64_t size : world_sizes)
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    table.warnings.push_back("the traces name different world sizes (" + sizes +
                             "): the ranks of several engines are in one table");
  }
  CompareGroups(inputs, GroupByRank(inputs, workers), table);
  return table;
}

std::optional<Straggler> FindStraggler(const RankTable& ranks) {
  if (!ranks.slowest) return std::nullopt;
  const RankRow& slowest = ranks.rows[*ranks.slowest];
  std::vector<size_t> rows;  // of its recording
  for (size_t i = 0; i < ranks.rows.size(); ++i) {
    if (ranks.rows[i].recording == slowest.recording && ranks.rows[i].window.ns > 0) {
      rows.push_back(i);
    }
  }
  if (rows.size() < 2 || slowest.window.ns <= 0) return std::nullopt;
  const auto stands_out = [](DurationNs more, DurationNs window) {
    return more.ns > 0 && more.ns >= window.ns / 50;
  };
  DurationNs least_compute = slowest.compute, exposed;
  size_t least = rows.front();
  for (const size_t row : rows) {
    least_compute = std::min(least_compute, ranks.rows[row].compute);
    if (ranks.rows[row].comm_busy < ranks.rows[least].comm_busy) least = row;
    exposed = std::max(exposed, ranks.rows[row].exposed_comm);
  }
  if (exposed > slowest.compute - least_compute) {
    const DurationNs others = MedianOfOthers(ranks, rows, least, &RankRow::comm_busy);
    const DurationNs own = ranks.rows[least].comm_busy;
    if (!stands_out(others - own, ranks.rows[least].window)) return std::nullopt;
    return Straggler{Straggler::Sign::kLeastCollectives, least, own, others};
  }
  const DurationNs others = MedianOfOthers(ranks, rows, *ranks.slowest, &RankRow::compute);
  if (!stands_out(slowest.compute - others, slowest.window)) return std::nullopt;
  return Straggler{Straggler::Sign::kComputesLongest, *ranks.slowest, slowest.compute, others};
}

}  // namespace tacho

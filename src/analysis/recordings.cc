#include "analysis/recordings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tacho {
namespace {

// The stretch of Unix time that the file is of: a window that is shorter than what ranks start
// apart must not make several recordings of one.
std::optional<Interval> RecordedTime(const RankInput& input) {
  if (!input.base_time_ns || input.span.empty()) return std::nullopt;
  const DurationNs base{*input.base_time_ns};
  return Interval{input.span.start + base, input.span.end + base};
}

}  // namespace

std::vector<std::vector<size_t>> GroupByRank(const std::vector<RankInput>& workers) {
  // Worker, data-parallel engine, rank, processes.
  using Key = std::tuple<std::string, std::optional<int64_t>, int64_t, std::vector<std::string>>;
  std::map<Key, std::vector<size_t>> same;
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < workers.size(); ++i) {
    const TraceFacts& facts = *workers[i].facts;
    if (facts.rank) {
      const RankIdentity& identity = facts.identity;
      same[{identity.worker, identity.data_parallel, *facts.rank, facts.process_names}].push_back(
          i);
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

std::string HowRecorded(const std::vector<RankInput>& workers, const std::vector<size_t>& files) {
  std::vector<Interval> times;
  for (const size_t i : files) {
    if (const auto when = RecordedTime(workers[i])) times.push_back(*when);
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
  if (at_once == files.size()) return "replicas or data-parallel engines, ";
  return std::to_string(at_once) +
         " of them at once (replicas or data-parallel engines), the rest one after the other, ";
}

std::vector<std::vector<size_t>> RecordingsOf(const std::vector<RankInput>& workers,
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
      span.world_size = std::max(span.world_size, workers[i].facts->world_size.value_or(-1));
      const std::optional<Interval> when = RecordedTime(workers[i]);
      if (!when) continue;
      span.when = span.has_time ? Interval{std::min(span.when.start, when->start),
                                           std::max(span.when.end, when->end)}
                                : *when;
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

}  // namespace tacho

#include "analysis/ranks/comm_candidates.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tacho {
namespace {

constexpr char kBetween = '\x1f';                // separates the parts of a key
constexpr int64_t kMostTime = int64_t{1} << 60;  // a later time is damaged; sums stay in range

Interval OnClock(Interval when, DurationNs offset) {
  const auto place = [&](TimeNs t) {
    return TimeNs{std::clamp(AddSaturated(t.ns, offset.ns), -kMostTime, kMostTime)};
  };
  return {place(when.start), place(when.end)};
}

std::string NumberKey(const std::optional<int64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

struct Member {
  uint32_t rank = 0;
  const CommSeries* series = nullptr;
};

// The time from the first start to the last end; empty without kernels.
Interval ExtentOf(const CommRank& rank) {
  Interval extent;
  for (const CommSeries& series : rank.series) {
    for (const CommKernel& kernel : series.kernels) {
      const Interval when = OnClock(kernel.when, rank.offset);
      extent = extent.empty()
                   ? when
                   : Interval{std::min(extent.start, when.start), std::max(extent.end, when.end)};
    }
  }
  return extent;
}

// The recording that each rank belongs to: ranks that overlap in time, directly or through others,
// are of one recording.
std::vector<size_t> RecordingOf(const std::vector<CommRank>& ranks) {
  std::vector<Interval> extents;
  std::vector<size_t> by_start;
  for (size_t i = 0; i < ranks.size(); ++i) {
    extents.push_back(ExtentOf(ranks[i]));
    by_start.push_back(i);
  }
  std::ranges::sort(by_start, {}, [&](size_t i) { return std::pair(extents[i].start, i); });
  std::vector<size_t> recordings(ranks.size());
  size_t recording = 0;
  TimeNs end{-kMostTime};
  for (const size_t i : by_start) {
    if (extents[i].empty()) continue;
    if (extents[i].start > end) ++recording;
    end = std::max(end, extents[i].end);
    recordings[i] = recording;
  }
  return recordings;
}

// The prefixes of each rank's keys: `engine` for series that name a process group, `part` for
// others.
struct Prefixes {
  std::string engine, part;
};
std::vector<Prefixes> PrefixesOf(const std::vector<CommRank>& ranks) {
  const std::vector<size_t> recordings = RecordingOf(ranks);
  std::vector<Prefixes> prefixes;
  std::set<std::pair<std::string, int64_t>> numbers;
  std::set<std::string> several;  // engines in which several ranks share a number
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankIdentity& of = ranks[i].identity;
    Prefixes prefix;
    prefix.engine = std::to_string(recordings[i]) + kBetween + of.worker + kBetween + of.stage;
    prefix.part =
        prefix.engine + kBetween + NumberKey(of.data_parallel) + kBetween + NumberKey(of.pipeline);
    if (of.rank && !numbers.emplace(prefix.engine, *of.rank).second) several.insert(prefix.engine);
    prefixes.push_back(std::move(prefix));
  }
  for (Prefixes& prefix : prefixes) {
    if (several.contains(prefix.engine)) prefix.engine = prefix.part;
  }
  return prefixes;
}

// Whether several traces claim to be the same rank: replicas that cannot be told apart.
bool RankTwice(const std::vector<CommRank>& ranks, const std::vector<Member>& members) {
  std::map<int64_t, uint32_t> seen;
  return std::ranges::any_of(members, [&](const Member& member) {
    const auto& rank = ranks[member.rank].identity.rank;
    return rank && seen.try_emplace(*rank, member.rank).first->second != member.rank;
  });
}

// Kernels with the number that identifies a collective within their series, ascending.
using Numbered = std::vector<std::pair<int64_t, const CommKernel*>>;

// Numbers by sequence number; empty unless each kernel has a different one.
Numbered BySequence(const CommSeries& series) {
  Numbered numbered;
  for (const CommKernel& kernel : series.kernels) {
    if (!kernel.sequence) return {};
    numbered.emplace_back(*kernel.sequence, &kernel);
  }
  std::ranges::sort(numbered, {}, &Numbered::value_type::first);
  const auto twice = std::ranges::adjacent_find(numbered, {}, &Numbered::value_type::first);
  return twice == numbered.end() ? numbered : Numbered();
}

Numbered ByOrder(const CommSeries& series) {
  Numbered numbered;
  for (const CommKernel& kernel : series.kernels)
    numbered.emplace_back(static_cast<int64_t>(numbered.size()), &kernel);
  return numbered;
}

struct NumberedMembers {
  std::vector<Numbered> of;
  bool by_order = false;
};
// Numbers the kernels of each member; empty if nothing says which kernels form one collective.
NumberedMembers NumberedOf(const std::vector<Member>& members) {
  NumberedMembers numbered;
  for (const Member& member : members) {
    numbered.of.push_back(BySequence(*member.series));
    if (numbered.of.back().empty()) break;
  }
  if (!numbered.of.back().empty()) return numbered;
  numbered = {{}, true};
  const size_t count = members.front().series->kernels.size();
  for (const Member& member : members) {
    if (member.series->kernels.size() != count) return {};
    numbered.of.push_back(ByOrder(*member.series));
  }
  return numbered;
}

// `members`: at least one, ordered by rank.
void AddCandidates(const std::vector<CommRank>& ranks, const std::vector<Member>& members,
                   std::vector<CommCandidate>& candidates) {
  if (members.front().rank == members.back().rank || RankTwice(ranks, members)) return;
  const auto [numbered, by_order] = NumberedOf(members);
  if (numbered.empty()) return;
  std::vector<size_t> next(members.size());  // for each member, the index into its `numbered`
  for (const auto& [number, first] : numbered.front()) {
    CommCandidate candidate;
    candidate.reserve(members.size());
    for (size_t i = 0; i < members.size(); ++i) {
      while (next[i] < numbered[i].size() && numbered[i][next[i]].first < number) ++next[i];
      if (next[i] == numbered[i].size() || numbered[i][next[i]].first > number) break;
      const CommKernel& kernel = *numbered[i][next[i]].second;
      const uint32_t rank = members[i].rank;
      candidate.push_back({rank, kernel.row, OnClock(kernel.when, ranks[rank].offset), by_order});
    }
    if (candidate.size() == members.size()) candidates.push_back(std::move(candidate));
  }
}

// The part of the key that identifies a process group; "" if the kernel does not name one.
std::string GroupKey(const Trace& trace, const ArgsOf& args) {
  std::string key;
  for (const char* part : {"Process Group Name", "Process Group Ranks", "Collective name"}) {
    const auto text = ArgText(trace, args, part);
    if (!text) return {};
    key += *text + kBetween;
  }
  return key;
}

}  // namespace

std::vector<CommSeries> CollectCommunication(const Trace& trace, const Classifier& classifier) {
  std::map<StringId, bool> is_communication;
  std::map<std::pair<StringId, std::string>, size_t> series_of;
  std::vector<CommSeries> series;
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    if (trace.gpu.kind[row] != SliceKind::kKernel) continue;
    const StringId name = trace.gpu.name[row];
    const auto [known, added] = is_communication.try_emplace(name);
    if (added) known->second = classifier.IsCommunication(classifier.OfKernel(trace.Text(name)));
    if (!known->second) continue;
    const StringId device = trace.words[trace.gpu.stream[row]].device;
    const ArgsOf args = GpuArgs(trace, row);
    std::string key = GroupKey(trace, args);
    const bool names_group = !key.empty();
    if (!names_group) key = trace.Text(name);
    const auto [at, first] = series_of.try_emplace({device, key}, series.size());
    if (first) series.push_back({std::string(trace.Text(device)), key, names_group, {}});
    series[at->second].kernels.push_back(
        {row, trace.gpu.When(row),
         names_group ? ArgInteger(trace, args, "Seq") : std::optional<int64_t>()});
  }
  for (CommSeries& each : series) {
    std::ranges::sort(each.kernels, {}, [](const CommKernel& kernel) {
      return std::tuple(kernel.when.start, kernel.when.end, kernel.row);
    });
  }
  return series;
}

std::vector<CommCandidate> FindCommCandidates(const std::vector<CommRank>& ranks) {
  const std::vector<Prefixes> prefixes = PrefixesOf(ranks);
  std::map<std::string, std::vector<Member>> members;
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    for (const CommSeries& series : ranks[i].series) {
      const std::string& prefix = series.names_group ? prefixes[i].engine : prefixes[i].part;
      members[prefix + kBetween + series.key].push_back({i, &series});
    }
  }
  std::vector<CommCandidate> candidates;
  for (const auto& [key, of] : members) AddCandidates(ranks, of, candidates);
  return candidates;
}

}  // namespace tacho

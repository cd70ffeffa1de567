#include "analysis/matched_collectives.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace tacho {
namespace {

constexpr char kBetween = '\x1f';  // the parts of a key
// Beyond these a time is damaged, and clocks are not those of one recording.
constexpr int64_t kMostTime = int64_t{1} << 61;
constexpr DurationNs kMostAhead{600 * kNsPerSecond};

Interval OnClock(Interval when, DurationNs offset) {
  const auto place = [&](TimeNs t) {
    return TimeNs{std::clamp(AddSaturated(t.ns, offset.ns), -kMostTime, kMostTime)};
  };
  return {place(when.start), place(when.end)};
}

std::string NumberKey(const std::optional<int64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

// A kernel on the clock of all ranks.
struct RankKernel {
  uint32_t rank = 0, row = 0;
  Interval when;
};
using Candidate = std::vector<RankKernel>;  // by rank

struct Member {
  uint32_t rank = 0;
  const CommSeries* series = nullptr;
};

// From the first start to the last end; empty without kernels.
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

// Which recording each rank is of: those that overlap in time, directly or through others.
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

// What the keys of each rank begin with: for series that name a process group, and for others.
struct Prefixes {
  std::string engine, part;
};
std::vector<Prefixes> PrefixesOf(const std::vector<CommRank>& ranks) {
  const std::vector<size_t> recordings = RecordingOf(ranks);
  std::vector<Prefixes> prefixes;
  std::set<std::pair<std::string, int64_t>> numbers;
  std::set<std::string> several;  // engines in which several ranks have one number
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

// Whether several traces claim to be one rank: replicas that nothing tells apart.
bool RankTwice(const std::vector<CommRank>& ranks, const std::vector<Member>& members) {
  std::map<int64_t, uint32_t> seen;
  return std::ranges::any_of(members, [&](const Member& member) {
    const auto& rank = ranks[member.rank].identity.rank;
    return rank && seen.try_emplace(*rank, member.rank).first->second != member.rank;
  });
}

// By sequence number; empty unless each kernel has one of its own.
std::map<int64_t, const CommKernel*> BySequence(const CommSeries& series) {
  std::map<int64_t, const CommKernel*> kernels;
  for (const CommKernel& kernel : series.kernels) {
    if (!kernel.sequence || !kernels.emplace(*kernel.sequence, &kernel).second) return {};
  }
  return kernels;
}

// The kernels of each member by what tells its collectives apart: their sequence numbers where all
// kernels have one, else their order, where all members have as many. Empty: nothing does.
std::vector<std::map<int64_t, const CommKernel*>> Numbered(const std::vector<Member>& members) {
  std::vector<std::map<int64_t, const CommKernel*>> numbered;
  for (const Member& member : members) {
    numbered.push_back(BySequence(*member.series));
    if (numbered.back().empty()) break;
  }
  if (!numbered.back().empty()) return numbered;
  numbered.clear();
  for (const Member& member : members) {
    const std::vector<CommKernel>& kernels = member.series->kernels;
    if (kernels.size() != members.front().series->kernels.size()) return {};
    auto& of = numbered.emplace_back();
    for (const CommKernel& kernel : kernels)
      of.emplace_hint(of.end(), static_cast<int64_t>(of.size()), &kernel);
  }
  return numbered;
}

// `members`: by rank, one or more.
void AddCandidates(const std::vector<CommRank>& ranks, const std::vector<Member>& members,
                   std::vector<Candidate>& candidates) {
  if (members.front().rank == members.back().rank || RankTwice(ranks, members)) return;
  const auto numbered = Numbered(members);
  if (numbered.empty()) return;
  for (const auto& [number, first] : numbered.front()) {
    Candidate candidate;
    for (size_t i = 0; i < members.size(); ++i) {
      const auto kernel = numbered[i].find(number);
      if (kernel == numbered[i].end()) break;
      const uint32_t rank = members[i].rank;
      candidate.push_back(
          {rank, kernel->second->row, OnClock(kernel->second->when, ranks[rank].offset)});
    }
    if (candidate.size() == members.size()) candidates.push_back(std::move(candidate));
  }
}

std::vector<Candidate> FindCandidates(const std::vector<CommRank>& ranks) {
  const std::vector<Prefixes> prefixes = PrefixesOf(ranks);
  std::map<std::string, std::vector<Member>> members;
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    for (const CommSeries& series : ranks[i].series) {
      const std::string& prefix = series.names_group ? prefixes[i].engine : prefixes[i].part;
      members[prefix + kBetween + series.key].push_back({i, &series});
    }
  }
  std::vector<Candidate> candidates;
  for (const auto& [key, of] : members) AddCandidates(ranks, of, candidates);
  return candidates;
}

DurationNs Median(std::vector<DurationNs> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A kernel of a rank and that of another in one candidate.
using Pair = std::pair<Interval, Interval>;

// How far the second of each pair is ahead; nullopt where these are no collectives of both.
std::optional<ClockResidual> Measure(const std::vector<Pair>& pairs) {
  if (pairs.size() < MatchedCollectives::kLeastCollectives) return std::nullopt;
  std::vector<DurationNs> ahead;
  for (const auto& [one, other] : pairs) ahead.push_back(other.end - one.end);
  ClockResidual residual;
  residual.ahead = Median(ahead);
  residual.collectives = pairs.size();
  for (DurationNs& each : ahead)
    each = std::max(each, residual.ahead) - std::min(each, residual.ahead);
  residual.spread = Median(std::move(ahead));
  if (residual.spread > MatchedCollectives::kMostSpread ||
      std::max(residual.ahead, -residual.ahead) > kMostAhead)
    return std::nullopt;
  const auto together = std::ranges::count_if(pairs, [&](const Pair& pair) {
    const auto& [one, other] = pair;
    return std::max(one.start, other.start - residual.ahead) <=
           std::min(one.end, other.end - residual.ahead);
  });
  if (2 * static_cast<size_t>(together) < pairs.size()) return std::nullopt;
  return residual;
}

// What places a rank on the clock of the first one that its collectives lead to.
struct Placed {
  uint32_t against = 0;
  DurationNs ahead;
};

// Goes from rank to rank by the collectives that they share, the first rank of all first.
class Clocks {
 public:
  Clocks(const std::vector<Candidate>& candidates, size_t ranks)
      : candidates_(candidates), of_rank_(ranks), placed_(ranks) {
    for (uint32_t i = 0; i < candidates.size(); ++i) {
      for (const RankKernel& kernel : candidates[i]) {
        std::vector<uint32_t>& of = of_rank_[kernel.rank];
        if (of.empty() || of.back() != i) of.push_back(i);
      }
    }
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      if (!placed_[rank] && !of_rank_[rank].empty()) PlaceAllFrom(rank);
    }
    std::ranges::sort(residuals, {}, &ClockResidual::rank);
  }

  [[nodiscard]] const std::optional<Placed>& operator[](uint32_t rank) const {
    return placed_[rank];
  }
  std::vector<ClockResidual> residuals;

 private:
  void PlaceAllFrom(uint32_t first) {
    placed_[first] = Placed{first, {}};
    std::vector<uint32_t> next{first};
    for (size_t i = 0; i < next.size(); ++i) PlaceThoseWith(next[i], next);
  }
  // Those that share enough collectives with `rank`; adds them to `next`.
  void PlaceThoseWith(uint32_t rank, std::vector<uint32_t>& next) {
    std::map<uint32_t, std::vector<Pair>> others;
    for (const uint32_t i : of_rank_[rank]) {
      const Candidate& candidate = candidates_[i];
      const auto own = std::ranges::find(candidate, rank, &RankKernel::rank);
      for (const RankKernel& other : candidate) {
        if (!placed_[other.rank]) others[other.rank].emplace_back(own->when, other.when);
      }
    }
    for (const auto& [other, pairs] : others) {
      std::optional<ClockResidual> residual = Measure(pairs);
      if (!residual) continue;
      residual->rank = other;
      residual->against = placed_[rank]->against;
      residual->ahead += placed_[rank]->ahead;
      placed_[other] = Placed{residual->against, residual->ahead};
      residuals.push_back(*residual);
      next.push_back(other);
    }
  }

  const std::vector<Candidate>& candidates_;
  std::vector<std::vector<uint32_t>> of_rank_;  // the candidates of each
  std::vector<std::optional<Placed>> placed_;
};

// nullopt where the clocks of its ranks are not known, or one rank left it before another began.
std::optional<Collective> Confirm(const Candidate& candidate, const Clocks& clocks) {
  Collective collective;
  TimeNs first_end{std::numeric_limits<int64_t>::max()};
  for (const RankKernel& kernel : candidate) {
    const auto& placed = clocks[kernel.rank];
    if (!placed || placed->against != clocks[candidate.front().rank]->against) return std::nullopt;
    const TimeNs start = kernel.when.start - placed->ahead;
    first_end = std::min(first_end, kernel.when.end - placed->ahead);
    collective.parts.push_back({kernel.rank, kernel.row, start});
    if (start > collective.parts[collective.last].start)
      collective.last = collective.parts.size() - 1;
  }
  if (collective.parts[collective.last].start > first_end) return std::nullopt;
  return collective;
}

// The parts of the key that a process group gives; "" where the kernel does not name it.
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

std::pair<const Collective*, const Collective::Part*> MatchedCollectives::Find(uint32_t rank,
                                                                               uint32_t row) const {
  const auto at = std::ranges::lower_bound(places_, std::pair(rank, row), {}, [](const Place& of) {
    return std::pair(of.rank, of.row);
  });
  if (at == places_.end() || at->rank != rank || at->row != row) return {};
  const Collective& collective = collectives[at->collective];
  return {&collective, &collective.parts[at->part]};
}

MatchedCollectives MatchCollectives(const std::vector<CommRank>& ranks) {
  MatchedCollectives matched;
  for (const CommRank& rank : ranks) {
    for (const CommSeries& series : rank.series) matched.kernels += series.kernels.size();
  }
  const std::vector<Candidate> candidates = FindCandidates(ranks);
  Clocks clocks(candidates, ranks.size());
  for (const Candidate& candidate : candidates) {
    auto collective = Confirm(candidate, clocks);
    if (!collective) continue;
    const auto number = static_cast<uint32_t>(matched.collectives.size());
    for (uint32_t part = 0; part < collective->parts.size(); ++part)
      matched.places_.push_back(
          {collective->parts[part].rank, collective->parts[part].row, number, part});
    matched.collectives.push_back(std::move(*collective));
  }
  std::ranges::sort(matched.places_, {}, [](const auto& of) { return std::pair(of.rank, of.row); });
  matched.unmatched = matched.kernels - matched.places_.size();
  matched.residuals = std::move(clocks.residuals);
  return matched;
}

}  // namespace tacho

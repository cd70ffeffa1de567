#include "analysis/ranks/comm_candidates.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/index/arg_reader.h"
#include "analysis/ranks/comm_messages.h"
#include "base/json_text.h"

namespace tacho {
namespace {

constexpr char kBetween = '\x1f';                // separates the parts of a key
constexpr int64_t kMostTime = int64_t{1} << 60;  // later times are damage; sums of two still fit

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
  if (!rank.series) return extent;
  for (const CommSeries& series : *rank.series) {
    for (const CommKernel& kernel : series.kernels) {
      const Interval when = OnClock(kernel.when, rank.offset);
      extent = extent.empty()
                   ? when
                   : Interval{std::min(extent.start, when.start), std::max(extent.end, when.end)};
    }
  }
  return extent;
}

// By rank: the number of its recording. Ranks that overlap in time, directly or through others, are
// of one recording.
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

// The beginnings of a rank's keys, which keep ranks of different engines from matching. `engine`:
// for series that name a process group. `part`: for other series; it adds the data-parallel and the
// pipeline number.
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

// Whether several traces claim to be the same rank: replicas that cannot be distinguished.
bool RankTwice(const std::vector<CommRank>& ranks, const std::vector<Member>& members) {
  std::map<int64_t, uint32_t> seen;
  return std::ranges::any_of(members, [&](const Member& member) {
    const auto& rank = ranks[member.rank].identity.rank;
    return rank && seen.try_emplace(*rank, member.rank).first->second != member.rank;
  });
}

// The kernels of a series with their numbers, ascending. Kernels of different ranks that have the
// same number may be one collective.
using Numbered = std::vector<std::pair<int64_t, const CommKernel*>>;

// Numbers the kernels by their sequence numbers; empty unless these all exist and differ.
Numbered BySequence(const CommSeries& series) {
  Numbered numbered;
  for (const CommKernel& kernel : series.kernels) {
    if (kernel.sequence == CommKernel::kNoSequence) return {};
    numbered.emplace_back(kernel.sequence, &kernel);
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

// Adds the candidates of series that have the same key. `members` is not empty, and sorted by rank.
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

// Finds the series of a kernel of one trace.
class SeriesOfTrace {
 public:
  explicit SeriesOfTrace(const Trace& trace)
      : trace_(trace),
        parts_{ArgReader(trace, "Process Group Name"), ArgReader(trace, "Process Group Ranks"),
               ArgReader(trace, "Collective name")},
        sequence_(trace, "Seq"),
        messages_(trace) {}

  void Add(uint32_t row, const std::string& category) {
    const Stream& stream = trace_.words[trace_.gpu.stream[row]];
    const ArgsOf args = GpuArgs(trace_, row);
    const size_t number_of_series = Of(row, stream.device, args);
    CommSeries& series = series_[number_of_series];
    if (series.category.empty()) series.category = category;
    const std::string_view id = trace_.Text(stream.stream);
    const auto known = std::ranges::find(series.streams, id);
    const auto number = static_cast<uint32_t>(known - series.streams.begin());
    if (known == series.streams.end()) series.streams.emplace_back(id);
    CommKernel& kernel = series.kernels.emplace_back();
    kernel.row = row;
    kernel.stream = number;
    kernel.when = trace_.gpu.When(row);
    if (!series.names_group) return;
    kernel.sequence = sequence_.Integer(args).value_or(CommKernel::kNoSequence);
    if (const auto message = messages_.Of(args)) {
      const auto [at, first] = message_of_.try_emplace(
          {number_of_series, *message}, static_cast<uint32_t>(series.messages.size()));
      if (first) series.messages.push_back(*message);
      kernel.message = at->second;
    }
  }
  std::vector<CommSeries> Finish() && {
    for (CommSeries& each : series_) {
      std::ranges::sort(each.kernels, {}, [](const CommKernel& kernel) {
        return std::tuple(kernel.when.start, kernel.when.end, kernel.row);
      });
      each.kernels.shrink_to_fit();
    }
    return std::move(series_);
  }

 private:
  // The device and the arguments that name a process group, each as JSON text. Without a group: the
  // device and the kernel's name.
  using Key = std::array<StringId, 4>;

  size_t Of(uint32_t row, StringId device, const ArgsOf& args) {
    Key key{device};
    bool names_group = true;
    for (size_t i = 0; i < parts_.size(); ++i) {
      key[i + 1] = parts_[i].Text(args);
      names_group = names_group && key[i + 1] != StringId::kEmpty;
    }
    if (!names_group) key = {device, trace_.gpu.name[row]};
    const auto [at, first] = series_of_.try_emplace(key, series_.size());
    if (!first) return at->second;
    CommSeries& series = series_.emplace_back();
    series.device = trace_.Text(device);
    series.names_group = names_group;
    if (names_group) {
      for (size_t i = 0; i < parts_.size(); ++i)
        series.key.append(trace_.Text(key[i + 1])) += kBetween;
      series.group = JsonStringOrText(trace_.Text(key[1]));
      series.name = JsonStringOrText(trace_.Text(key[3]));
    } else {
      series.key = series.name = trace_.Text(key[1]);
    }
    return at->second;
  }

  const Trace& trace_;
  std::array<ArgReader, 3> parts_;
  ArgReader sequence_;
  CommMessages messages_;
  std::map<Key, size_t> series_of_;
  // By series and message: index into CommSeries::messages.
  std::map<std::pair<size_t, CommMessage>, uint32_t> message_of_;
  std::vector<CommSeries> series_;
};

}  // namespace

Communication CollectCommunication(const Trace& trace, const Classifier& classifier) {
  // By kernel name: its category, if it is communication; else one of these two.
  constexpr uint32_t kNotSeen = 0x10000, kOther = 0x10001;
  std::vector<uint32_t> names(trace.words.strings.size(), kNotSeen);
  SeriesOfTrace series(trace);
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    if (trace.gpu.kind[row] != SliceKind::kKernel) continue;
    const StringId name = trace.gpu.name[row];
    uint32_t& known = names[Index(name)];
    if (known == kNotSeen) {
      const WorkCategory category = classifier.OfKernel(trace.Text(name));
      known = classifier.IsCommunication(category) ? category : kOther;
    }
    if (known < kNotSeen) series.Add(row, classifier.categories()[known]);
  }
  return std::make_shared<const std::vector<CommSeries>>(std::move(series).Finish());
}

std::vector<CommCandidate> FindCommCandidates(const std::vector<CommRank>& ranks) {
  const std::vector<Prefixes> prefixes = PrefixesOf(ranks);
  std::map<std::string, std::vector<Member>> members;
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i].series) continue;
    for (const CommSeries& series : *ranks[i].series) {
      const std::string& prefix = series.names_group ? prefixes[i].engine : prefixes[i].part;
      members[prefix + kBetween + series.key].push_back({i, &series});
    }
  }
  std::vector<CommCandidate> candidates;
  for (const auto& [key, of] : members) AddCandidates(ranks, of, candidates);
  return candidates;
}

}  // namespace tacho

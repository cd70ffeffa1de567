#include "analysis/compare/compared_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/compare/side_evidence.h"

namespace tacho {
namespace {

using Why = UnequalRank::Why;

constexpr double kLeastPart = 0.95;  // a rank's time, as a share of the longest rank's
constexpr double kLeastTimed = 0.9;  // a rank's share of timed steps, relative to the best rank's
constexpr double kLeastSteps = 0.75, kFewSteps = 2;

// Identifies a rank across runs: worker, data-parallel, pipeline and tensor number, rank in the
// engine. A number that is 0 in all ranks of a run is absent from its identities (LeaveOutSingles).
using RankKey = std::tuple<std::string, int64_t, int64_t, int64_t, int64_t>;

std::optional<RankKey> KeyOf(const TraceFacts& facts) {
  const RankIdentity& identity = facts.identity;
  if (!facts.rank && identity.RankName().empty()) return std::nullopt;
  return RankKey{identity.worker, identity.data_parallel.value_or(0), identity.pipeline.value_or(0),
                 identity.tensor.value_or(0), facts.rank.value_or(-1)};
}

std::string NameOfRank(const TraceAnalysis& trace) {
  std::string name = trace.facts.identity.RankName();
  if (name.empty())
    name = trace.facts.rank ? fmt::format("rank {}", *trace.facts.rank) : trace.path;
  return name;
}

// The files of one rank of one run.
struct RankFiles {
  RunRanks traces;
  std::optional<RankKey> key;  // absent: unknown, or several ranks of the run claim it
  std::optional<int64_t> world_size;
  size_t recording = 0;
  // Sums over its files.
  double length = 0;    // recorded time in ns
  double profiled = 0;  // ns for which the profiler ran, by the mark that it left in the trace
  bool has_marks = true, is_recorded_whole = true;
  double steps = 0, timed = 0;
  bool lost_work = false;
  bool has_overflow = false;  // some duration cannot be right (NoteId::kLongOverlap)
  bool is_cut = false, has_times = false, lacks_times = false, is_merged = false;
  std::optional<Why> why;  // why the rank itself is unequal; absent: it is not
  double share = 0;
  std::optional<Why> with;  // why the same rank of another run is out, which leaves this one out
  bool is_kept = false;     // `with` was kMissing, but the rank is compared for want of others
  bool missing_in_base = false;

  // False: the rank has no figures that could be left out.
  [[nodiscard]] bool did_anything() const { return has_times || lacks_times || is_cut; }
  [[nodiscard]] bool is_out() const { return why || with; }
};
using RunFiles = std::vector<RankFiles>;

void AddTrace(const TraceAnalysis& trace, RankFiles& rank) {
  rank.traces.push_back(&trace);
  Interval held = trace.recorded(), profiled = trace.profiled;
  rank.has_marks &= !profiled.empty();
  rank.is_recorded_whole &= held == trace.span;
  for (Interval* part : {&held, &profiled}) {
    if (trace.scope.window) *part = part->Clip(*trace.scope.window);
  }
  rank.length += static_cast<double>(held.length().ns);
  rank.profiled += static_cast<double>(profiled.length().ns);
  for (const Step& step : trace.steps.steps) {
    rank.steps += 1;
    rank.timed += !trace.devices.empty() && trace.idle.known && !step.lost_work;
  }
  rank.lost_work |= trace.integrity.lost.any() || !trace.idle.known;
  rank.is_cut |= IsCutOff(trace.notes);
  rank.has_overflow |= trace.notes.CountOf(NoteId::kLongOverlap) > 0;
  rank.is_merged |= trace.facts.role == TraceRole::kMerged;
  rank.has_times |= !trace.devices.empty();
  rank.lacks_times |= LacksTimes(trace);
  if (!rank.world_size) rank.world_size = trace.facts.world_size;
}

RunFiles FilesOf(const RunAnalysis& run) {
  std::map<std::string_view, const RankRow*> rows;
  for (const RankRow& row : run.ranks.rows) rows.emplace(row.path, &row);
  RunFiles ranks;
  std::map<size_t, size_t> of_group;  // by RankRow::group: index into `ranks`
  for (const TraceAnalysis* trace : RanksOf(run)) {
    const auto row = rows.find(trace->path);
    size_t at = ranks.size();
    if (row != rows.end()) at = of_group.try_emplace(row->second->group, at).first->second;
    if (at == ranks.size()) {
      ranks.emplace_back().key = KeyOf(trace->facts);
      // A trace that is not in the table of ranks is a merged file: it gets a recording of its own.
      ranks[at].recording = row == rows.end() ? run.ranks.rows.size() + at : row->second->recording;
    }
    AddTrace(*trace, ranks[at]);
  }
  std::map<RankKey, size_t> claims;
  for (const RankFiles& rank : ranks) {
    if (rank.key) ++claims[*rank.key];
  }
  for (RankFiles& rank : ranks) {
    if (rank.key && claims[*rank.key] > 1) rank.key.reset();
  }
  return ranks;
}

// Groups the ranks of a run into teams that hold equally much unless something is wrong: the ranks
// of one recording, engine and stage. Data-parallel engines are separate teams, because they serve
// different requests and end at different times; so are pipeline stages, because they run different
// kernels. If several files claim to be the same rank, their engine is unknown, and each is a team
// of its own.
std::vector<std::vector<RankFiles*>> TeamsOf(RunFiles& ranks) {
  using Team = std::tuple<size_t, std::string, std::set<std::string>, int64_t, int64_t, size_t>;
  std::map<Team, std::vector<RankFiles*>> teams;
  for (RankFiles& rank : ranks) {
    if (!rank.did_anything()) continue;
    const RankIdentity& identity = rank.traces.front()->facts.identity;
    const size_t alone = rank.key ? 0 : static_cast<size_t>(&rank - ranks.data()) + 1;
    std::set<std::string> stages;
    for (const TraceAnalysis* trace : rank.traces) stages.insert(trace->facts.stage);
    teams[{rank.recording, identity.worker, std::move(stages), identity.data_parallel.value_or(0),
           identity.pipeline.value_or(0), alone}]
        .push_back(&rank);
  }
  std::vector<std::vector<RankFiles*>> result;
  for (auto& [key, team] : teams) result.push_back(std::move(team));
  return result;
}

// Considers the ranks of `team` without a `why`. Sets the `why` of those whose figure is below
// `least` times the largest figure of these ranks.
template <typename Figure>
void FindLess(const std::vector<RankFiles*>& team, double least, Why why, const Figure& figure) {
  double most = 0;
  for (const RankFiles* rank : team) {
    if (!rank->why) most = std::max(most, figure(*rank));
  }
  for (RankFiles* rank : team) {
    if (rank->why || figure(*rank) >= least * most) continue;
    rank->why = why;
    rank->share = figure(*rank) / most;
  }
}

// Finds the ranks of a team that are shorter than the longest one. A rank that did nothing at the
// ends of its recording is not short for this reason alone: it is whole if its profiler ran as long
// as those of the others and it has as many steps.
void FindShort(const std::vector<RankFiles*>& team) {
  double most_profiled = 0, most_steps = 0, longest = 0;
  bool all_marked = true;
  for (const RankFiles* rank : team) {
    if (rank->why) continue;
    all_marked &= rank->has_marks;
    most_profiled = std::max(most_profiled, rank->profiled);
    most_steps = std::max(most_steps, rank->steps);
    longest = std::max(longest, rank->length);
  }
  FindLess(team, kLeastPart, Why::kShort, [&](const RankFiles& rank) {
    const bool is_whole = all_marked && rank.is_recorded_whole && most_steps > 0 &&
                          rank.profiled >= kLeastPart * most_profiled &&
                          rank.steps >= kLeastPart * most_steps;
    return is_whole ? longest : rank.length;
  });
  // A rank's events may reach as far as those of the others, but with a hole in between.
  FindLess(team, kLeastSteps, Why::kFewSteps, [&](const RankFiles& rank) {
    const bool are_few = rank.steps + kFewSteps < most_steps;
    return are_few ? rank.steps : std::max(rank.steps, most_steps);
  });
}

void FindUnequal(const std::vector<RankFiles*>& team) {
  FindLess(team, 1, Why::kCut, [](const RankFiles& rank) { return rank.is_cut ? 0.0 : 1.0; });
  FindLess(team, 1, Why::kOverflow,
           [](const RankFiles& rank) { return rank.has_overflow ? 0.0 : 1.0; });
  FindLess(team, 1, Why::kUntimed,
           [](const RankFiles& rank) { return rank.has_times ? 1.0 : 0.0; });
  FindShort(team);
  FindLess(team, kLeastTimed, Why::kLostWork,
           [](const RankFiles& rank) { return rank.steps == 0 ? 1 : rank.timed / rank.steps; });
  for (RankFiles* rank : team) {
    if (rank->why == Why::kLostWork && !rank->lost_work) rank->why = Why::kLostCalls;
  }
}

// Finds the ranks whose steps have no device time although other ranks of the run have it.
// FindUnequal compares only ranks of one team, so it does not see this if a whole team has no
// device time.
void FindEmpty(RunFiles& run) {
  const auto is_timed = [](const RankFiles& rank) { return rank.timed > 0; };
  if (std::ranges::none_of(run, is_timed)) return;
  for (RankFiles& rank : run) {
    if (!rank.why && rank.did_anything() && rank.steps > 0 && rank.timed == 0)
      rank.why = Why::kNoSteps;
  }
}

// All runs of both sides.
struct AllRuns {
  std::vector<RunFiles> runs;  // the runs of base, then those of new
  size_t of_base = 0;          // number of runs of base

  [[nodiscard]] bool is_base(const RunFiles& run) const {
    return static_cast<size_t>(&run - runs.data()) < of_base;
  }
};

const RankFiles* Find(const RunFiles& run, const RankKey& key) {
  const auto at = std::ranges::find(run, std::optional(key), &RankFiles::key);
  return at == run.end() ? nullptr : &*at;
}

bool LacksRanks(const RunFiles& run, int64_t world_size) {
  return std::ranges::ssize(run) < world_size;
}

// Whether `run` and `other` seem to be runs of the same engine: they have a rank with the same
// world size and the same key. If both lack ranks, the same worker is enough.
bool IsSameEngine(const RunFiles& run, const RunFiles& other) {
  return std::ranges::any_of(run, [&](const RankFiles& rank) {
    if (!rank.key || !rank.world_size) return false;
    const bool both_lack = LacksRanks(run, *rank.world_size) && LacksRanks(other, *rank.world_size);
    return std::ranges::any_of(other, [&](const RankFiles& of_other) {
      return of_other.key && of_other.world_size == rank.world_size &&
             (both_lack ? std::get<0>(*of_other.key) == std::get<0>(*rank.key)
                        : of_other.key == rank.key);
    });
  });
}

// Marks the ranks that have no trace in some other run. Runs with a merged file are skipped,
// because that file may hold any rank.
void MarkMissing(AllRuns& all) {
  const auto has_merged = [](const RunFiles& run) {
    return std::ranges::any_of(run, &RankFiles::is_merged);
  };
  for (const RunFiles& without : all.runs) {
    for (RunFiles& run : all.runs) {
      if (&run == &without || !IsSameEngine(run, without)) continue;
      if (has_merged(run) || has_merged(without)) continue;
      for (RankFiles& rank : run) {
        if (!rank.key || Find(without, *rank.key) != nullptr) continue;
        // If several files of `without` claim this rank, it is not missing there.
        const auto claims = [&](const RankFiles& other) {
          return !other.key && KeyOf(other.traces.front()->facts) == rank.key;
        };
        if (std::ranges::any_of(without, claims)) continue;
        rank.with = Why::kMissing;
        rank.missing_in_base = all.is_base(without);
      }
    }
  }
}

// Marks each rank that is left out of some run in all other runs too.
void MarkTheSame(AllRuns& all) {
  std::map<RankKey, Why> out;
  for (const RunFiles& run : all.runs) {
    for (const RankFiles& rank : run) {
      if (rank.key && rank.is_out()) out.emplace(*rank.key, rank.why ? *rank.why : *rank.with);
    }
  }
  for (RunFiles& run : all.runs) {
    for (RankFiles& rank : run) {
      if (!rank.key || rank.is_out()) continue;
      if (const auto why = out.find(*rank.key); why != out.end()) rank.with = why->second;
    }
  }
}

// Whether the rank has nothing to be compared with, because the same rank has no figures elsewhere.
bool HasNoOther(const RankFiles& rank) {
  return rank.with == Why::kMissing || rank.with == Why::kNoSteps;
}

// Keeps ranks that would be left out only because of other runs. If all ranks of a team would be
// left out, keeps those that have figures in the other runs. If all ranks of the run are still left
// out after that, keeps all of them, although they are then compared with other ranks. Returns
// whether it kept any.
bool KeepSome(RunFiles& run) {
  bool any = false;
  const auto keep = [&](RankFiles& rank) {
    any |= rank.with.has_value();
    rank.is_kept = rank.with == Why::kMissing;
    rank.with.reset();
  };
  for (const std::vector<RankFiles*>& team : TeamsOf(run)) {
    if (!std::ranges::all_of(team, &RankFiles::is_out)) continue;
    for (RankFiles* rank : team) {
      if (!HasNoOther(*rank)) keep(*rank);
    }
  }
  const auto is_out = [](const RankFiles& rank) { return !rank.did_anything() || rank.is_out(); };
  if (!std::ranges::all_of(run, is_out)) return any;
  for (RankFiles& rank : run) keep(rank);
  return any;
}

// Whether any rank is compared on both sides.
bool AnyOfBoth(const AllRuns& all) {
  std::set<RankKey> of_base;
  bool any = false;
  for (const RunFiles& run : all.runs) {
    for (const RankFiles& rank : run) {
      if (!rank.key || rank.is_out()) continue;
      if (all.is_base(run))
        of_base.insert(*rank.key);
      else
        any |= of_base.contains(*rank.key);
    }
  }
  return any;
}

bool IsInSomeRun(const AllRuns& all, bool of_base, const RankFiles& rank) {
  return std::ranges::any_of(all.runs, [&](const RunFiles& run) {
    return all.is_base(run) == of_base && Find(run, *rank.key) != nullptr;
  });
}

// Whether a rank with this key is left out on the side `of_base`.
bool IsOutOf(const AllRuns& all, bool of_base, const std::optional<RankKey>& key) {
  return key && std::ranges::any_of(all.runs, [&](const RunFiles& run) {
           const RankFiles* rank = all.is_base(run) == of_base ? Find(run, *key) : nullptr;
           return rank != nullptr && rank->is_out();
         });
}

std::vector<UnequalRank> UnequalOf(const AllRuns& all, bool by_steps) {
  std::vector<UnequalRank> unequal;
  for (const RunFiles& run : all.runs) {
    for (const RankFiles& rank : run) {
      const bool is_out = rank.with == Why::kMissing && (!rank.why || !by_steps);
      const bool is_missing = is_out || (rank.is_kept && !rank.why);
      if (!rank.why && !is_missing) continue;
      UnequalRank& row = unequal.emplace_back();
      row.why = is_missing ? Why::kMissing : *rank.why;
      row.of_base = is_missing ? rank.missing_in_base : all.is_base(run);
      row.name = NameOfRank(*rank.traces.front());
      row.share = rank.share;
      row.in_all_runs = is_missing && !IsInSomeRun(all, row.of_base, rank);
      row.is_left_out = is_missing ? is_out : by_steps;
      row.on_both = !is_missing && by_steps && IsOutOf(all, !all.is_base(run), rank.key);
    }
  }
  return unequal;
}

}  // namespace

SideRanks AllRanksOf(const std::vector<RunAnalysis>& runs) {
  SideRanks ranks;
  for (const RunAnalysis& run : runs) ranks.push_back(RanksOf(run));
  return ranks;
}

ComparedRanks RanksToCompare(const std::vector<RunAnalysis>& base,
                             const std::vector<RunAnalysis>& now, bool by_steps) {
  AllRuns all{{}, base.size()};
  for (const std::vector<RunAnalysis>* side : {&base, &now}) {
    for (const RunAnalysis& run : *side) all.runs.push_back(FilesOf(run));
  }
  const auto find_unequal = [&] {
    for (RunFiles& run : all.runs) {
      for (const std::vector<RankFiles*>& team : TeamsOf(run)) FindUnequal(team);
      FindEmpty(run);
    }
  };
  if (by_steps) find_unequal();
  MarkMissing(all);
  if (by_steps) MarkTheSame(all);
  bool all_out = false;
  for (RunFiles& run : all.runs) all_out |= KeepSome(run);
  const bool none_common = all_out && !AnyOfBoth(all);
  if (!by_steps) find_unequal();  // only to report them
  ComparedRanks ranks{AllRanksOf(base), AllRanksOf(now), UnequalOf(all, by_steps), none_common};
  for (size_t i = 0; i < all.runs.size(); ++i) {
    RunRanks& kept = i < base.size() ? ranks.base[i] : ranks.now[i - base.size()];
    for (const RankFiles& rank : all.runs[i]) {
      if (by_steps ? !rank.is_out() : rank.with != Why::kMissing) continue;
      for (const TraceAnalysis* trace : rank.traces) std::erase(kept, trace);
    }
  }
  return ranks;
}

}  // namespace tacho

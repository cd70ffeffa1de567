#include "analysis/requests/join.h"

#include <algorithm>
#include <optional>

#include "analysis/requests/engine_match.h"

namespace tacho {
namespace {

constexpr int kMostMatchings = 16;

// The engines that may have served a request.
struct Candidates {
  std::vector<uint32_t> engines;
  bool elsewhere = false;  // it may also have been an engine without a trace that can be joined
};

class Joiner {
 public:
  Joiner(const RequestTable& table, const JoinOptions& options, RequestJoin& join)
      : table_(table), options_(options), join_(join), times_(table), at_(join.engines.size()) {
    for (uint32_t i = 0; i < join_.engines.size(); ++i) {
      rooms_.emplace_back(join_.engines[i].steps);
      join_.engine_why.push_back(Usable(i));
    }
    FindCandidates();
  }

  void Join() {
    std::vector<bool> open;
    for (const JoinWhy why : join_.engine_why) open.push_back(why == JoinWhy::kJoined);
    for (int round = 0; round < kMostMatchings && std::ranges::count(open, true) > 0; ++round) {
      for (uint32_t engine = 0; engine < open.size(); ++engine) {
        if (open[engine]) MatchEngine(engine);
      }
      open = ShareDoubts();
      if (std::ranges::count(open, true) == 0) open = Settle();
    }
    maybe_inside_.resize(candidates_.size());
    for (uint32_t engine = 0; engine < at_.size(); ++engine) TakeSeats(engine);
    TakeOutside();
    Finish();
  }

 private:
  [[nodiscard]] JoinWhy Usable(uint32_t engine) const {
    const JoinEngine& of = join_.engines[engine];
    if (of.steps.empty() || !rooms_[engine].counts) return JoinWhy::kNoSteps;
    return of.clock_error ? JoinWhy::kJoined : JoinWhy::kNoClock;
  }
  [[nodiscard]] bool IsOpen(uint32_t engine) const {
    return join_.engine_why[engine] == JoinWhy::kJoined ||
           join_.engine_why[engine] == JoinWhy::kOthers;
  }

  void FindCandidates() {
    const size_t workers = table_.workers.size();
    std::vector<std::vector<uint32_t>> of_worker(workers);
    std::vector<bool> lacks(workers, false);
    bool any_lacks = table_.engines > workers;
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < join_.engines.size(); ++i) {
      if (!IsOpen(i)) continue;
      all.push_back(i);
      if (join_.engines[i].worker < workers) of_worker[join_.engines[i].worker].push_back(i);
    }
    for (size_t worker = 0; worker < workers; ++worker) {
      lacks[worker] =
          static_cast<int64_t>(of_worker[worker].size()) < table_.workers[worker].engines;
      any_lacks = any_lacks || lacks[worker];
    }
    serves_others_.assign(at_.size(), false);
    may_be_gapless_.assign(at_.size(), !options_.may_pause);
    join_.gapless.assign(at_.size(), false);
    group_.resize(at_.size());
    bool any_routed = false;
    for (size_t i = 0; i < table_.rows.size(); ++i)
      any_routed |= times_.requests[i].any && table_.rows[i].worker >= workers;
    for (const uint32_t engine : all) {
      const uint32_t worker = join_.engines[engine].worker;
      group_[engine] = any_routed || worker >= workers ? all : of_worker[worker];
    }
    for (uint32_t i = 0; i < table_.rows.size(); ++i) {
      Candidates& of = candidates_.emplace_back();
      if (!times_.requests[i].any) continue;
      const uint32_t worker = table_.rows[i].worker;
      of = worker < workers ? Candidates{of_worker[worker], lacks[worker]}
                            : Candidates{all, any_lacks};
    }
  }

  // Engines that the same requests may have been sent to are a group. If the match of one engine is
  // doubtful, its requests may in truth belong to another engine of the group, so all are doubtful.
  // Returns the engines that must be matched again.
  std::vector<bool> ShareDoubts() {
    std::vector<bool> again(at_.size(), false);
    for (uint32_t engine = 0; engine < at_.size(); ++engine) {
      if (join_.engine_why[engine] == JoinWhy::kContradiction) {
        for (const uint32_t other : group_[engine]) {
          if (IsOpen(other)) join_.engine_why[other] = JoinWhy::kContradiction;
        }
      } else if (join_.engine_why[engine] == JoinWhy::kOthers) {
        for (const uint32_t other : group_[engine]) {
          if (serves_others_[other] || !IsOpen(other)) continue;
          again[other] = serves_others_[other] = true;
        }
      }
    }
    return again;
  }

  void MatchEngine(uint32_t engine) {
    const auto begin = [&] {
      at_[engine].emplace(join_.engines[engine], rooms_[engine], times_);
      for (uint32_t i = 0; i < candidates_.size(); ++i) {
        const Candidates& of = candidates_[i];
        if (std::ranges::find(of.engines, engine) != of.engines.end())
          at_[engine]->Add(i, of.engines.size() > 1 || of.elsewhere);
      }
    };
    begin();
    if (at_[engine]->seats().seatings.empty()) {
      join_.engine_why[engine] = JoinWhy::kNoRequests;
      return;
    }
    join_.engine_why[engine] = MatchAs(engine, begin);
  }

  // Matches by the strictest rules that the records do not contradict. A rule for which the records
  // have no evidence is not used.
  template <typename Begin>
  JoinWhy MatchAs(uint32_t engine, const Begin& begin) {
    join_.gapless[engine] = false;
    if (serves_others_[engine]) return MatchWithOthers(engine, begin);
    if (at_[engine]->MayBeGapless() && may_be_gapless_[engine]) {
      const JoinWhy why = at_[engine]->Match(Served::kRecordedGapless);
      join_.gapless[engine] = why == JoinWhy::kJoined && at_[engine]->LimitProven();
      if (join_.gapless[engine]) return why;
      begin();
    }
    may_be_gapless_[engine] = false;
    JoinWhy why = at_[engine]->Match(Served::kRecordedToLimit);
    if (why == JoinWhy::kContradiction || !at_[engine]->LimitProven()) {
      begin();
      why = at_[engine]->Match(Served::kRecorded);
    }
    if (why != JoinWhy::kContradiction || !at_[engine]->OthersProven()) return why;
    serves_others_[engine] = true;
    begin();
    return MatchWithOthers(engine, begin);
  }
  template <typename Begin>
  JoinWhy MatchWithOthers(uint32_t engine, const Begin& begin) {
    if (at_[engine]->MayBeGapless() && !options_.may_pause) {
      const JoinWhy why = at_[engine]->Match(Served::kOthersPrompts);
      join_.gapless[engine] = why == JoinWhy::kOthers && at_[engine]->LimitProven();
      if (join_.gapless[engine]) return why;
      begin();
    }
    return at_[engine]->Match(Served::kOthersToo);
  }

  // Updates which engines may have served each request. Returns the engines whose requests changed.
  std::vector<bool> Settle() {
    std::vector<bool> changed(at_.size(), false);
    const std::vector<Candidates> before = candidates_;
    for (uint32_t engine = 0; engine < at_.size(); ++engine) {
      if (at_[engine]) SettleAt(engine);
    }
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const Candidates &was = before[i], &is = candidates_[i];
      if (was.engines == is.engines && was.elsewhere == is.elsewhere) continue;
      if (is.engines.empty() && !is.elsewhere) {
        // The request fits no engine, so the request's record is wrong, or the times of one of
        // these engines are.
        for (const uint32_t engine : was.engines)
          join_.engine_why[engine] = JoinWhy::kContradiction;
      }
      const bool was_sure = was.engines.size() == 1 && !was.elsewhere;
      const bool is_sure = is.engines.size() == 1 && !is.elsewhere;
      for (const uint32_t engine : was.engines) {
        const bool left = std::ranges::find(is.engines, engine) == is.engines.end();
        if (IsOpen(engine) && (left || was_sure != is_sure)) changed[engine] = true;
      }
    }
    return changed;
  }
  void SettleAt(uint32_t engine) {
    const EngineMatch& match = *at_[engine];
    for (size_t at = 0; at < match.seats().seatings.size(); ++at) {
      const Seating& seating = match.seats().seatings[at];
      Candidates& of = candidates_[seating.request];
      if (!IsOpen(engine)) {
        of.elsewhere |= std::erase(of.engines, engine) > 0;
      } else if (match.needed(at)) {
        if (std::ranges::find(of.engines, engine) != of.engines.end()) of = {{engine}, false};
      } else if (!seating.fits && (of.engines.size() > 1 || of.elsewhere)) {
        std::erase(of.engines, engine);
      }
    }
  }

  void TakeSeats(uint32_t engine) {
    if (!at_[engine] || !IsOpen(engine)) return;
    std::optional<DurationNs>& error = join_.clock_error;
    error = std::max(error.value_or(DurationNs{}), *join_.engines[engine].clock_error);
    for (const Seating& seating : at_[engine]->seats().seatings) {
      const Candidates& of = candidates_[seating.request];
      if (std::ranges::find(of.engines, engine) == of.engines.end()) continue;
      const bool sure = of.engines.size() == 1 && !of.elsewhere;
      JoinedRequest& request = join_.requests[seating.request];
      if (sure) request.engine = engine;
      for (uint32_t token = 0; token < request.tokens.size(); ++token) {
        const TokenSeat seat = at_[engine]->SeatOf(seating, token);
        // If the engine is not known, a token is kOutside only if it is outside of all traces.
        if (sure) {
          request.tokens[token] = seat;
        } else if (seat.fit != Fit::kOutside) {
          maybe_inside_[seating.request].resize(request.tokens.size());
          maybe_inside_[seating.request][token] = true;
        }
      }
    }
  }
  void TakeOutside() {
    for (size_t i = 0; i < candidates_.size(); ++i) {
      JoinedRequest& request = join_.requests[i];
      if (request.engine != JoinedRequest::kNoEngine || candidates_[i].engines.empty()) continue;
      const std::vector<bool>& inside = maybe_inside_[i];
      for (size_t token = 0; token < request.tokens.size(); ++token) {
        if (inside.empty() || !inside[token]) request.tokens[token].fit = Fit::kOutside;
      }
    }
  }

  void Finish() {
    for (const JoinedRequest& request : join_.requests) {
      for (const TokenSeat& seat : request.tokens) {
        join_.tokens += seat.fit == Fit::kOutside ? 0 : 1;
        join_.tied += seat.fit == Fit::kTied ? 1 : 0;
        join_.one_of += seat.fit == Fit::kOneOf ? 1 : 0;
      }
    }
    join_.why =
        join_.engine_why.empty() ? JoinWhy::kNoSteps : *std::ranges::min_element(join_.engine_why);
  }

  const RequestTable& table_;
  const JoinOptions& options_;
  RequestJoin& join_;
  TokenTimesOf times_;
  std::vector<StepRooms> rooms_;
  std::vector<Candidates> candidates_;          // by request
  std::vector<std::optional<EngineMatch>> at_;  // by engine
  std::vector<std::vector<uint32_t>> group_;    // by engine: others that may share its requests
  std::vector<bool> serves_others_, may_be_gapless_;  // by engine
  // For each request whose engine is not known, and each of its tokens: whether a step of a trace
  // may have made the token.
  std::vector<std::vector<bool>> maybe_inside_;

 public:
  [[nodiscard]] const TokenTimesOf& times() const { return times_; }
};

}  // namespace

RequestJoin JoinRequests(const RequestTable& requests, std::vector<JoinEngine> engines,
                         const JoinOptions& options) {
  RequestJoin join;
  join.engines = std::move(engines);
  Joiner joiner(requests, options, join);
  for (const TokenTimes& times : joiner.times().requests)
    join.requests.emplace_back().tokens.resize(times.tokens);
  joiner.Join();
  return join;
}

}  // namespace tacho

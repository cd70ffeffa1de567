#include "session/proof/life_watch.h"

#include <algorithm>
#include <chrono>

#include "control/live/liveness.h"
#include "control/live/probe.h"
#include "session/http/step_count.h"

namespace tacho {
namespace {

constexpr std::chrono::milliseconds kBetweenQuestions{1000};

struct AskedEngines {
  std::vector<size_t> which;
  std::vector<Worker> workers;
  std::vector<EngineFacts> facts;
};

// The engines that seem to be dead, with the reasons and their counters.
struct Doubts {
  AskedEngines engines;
  std::vector<std::string> why;
  std::vector<Result<MetricsSnapshot>> metrics;
};

Doubts Ask(HttpClient& client, const AskedEngines& asked) {
  Doubts doubts;
  const std::vector<std::string> why =
      WhyDead(client, asked.workers, asked.facts, kPatienceForLife);
  for (size_t n = 0; n < why.size(); ++n) {
    if (why[n].empty()) continue;
    doubts.engines.which.push_back(asked.which[n]);
    doubts.engines.workers.push_back(asked.workers[n]);
    doubts.engines.facts.push_back(asked.facts[n]);
    doubts.why.push_back(why[n]);
  }
  if (!doubts.why.empty())
    doubts.metrics = ReadMetricsAll(client, doubts.engines.workers, kPatienceForLife, {});
  return doubts;
}

// The engines that seem to be dead at the first look, although they still report metrics.
LifeWatch::Deaths IllAlready(const Doubts& doubts) {
  LifeWatch::Deaths ill;
  for (size_t n = 0; n < doubts.why.size(); ++n)
    if (doubts.metrics[n]) ill[doubts.engines.which[n]] = doubts.why[n];
  return ill;
}

// Asks the doubtful engines again. `first` holds their answers to the first question.
LifeWatch::Deaths AskAgain(HttpClient& client, Clock& clock, const Doubts& first) {
  LifeWatch::Deaths dead;
  if (first.why.empty()) return dead;
  clock.Pause({}, kBetweenQuestions);
  const Doubts then = Ask(client, first.engines);
  for (size_t n = 0; n < then.why.size(); ++n) {
    const size_t which = then.engines.which[n];
    const auto was = std::ranges::find(first.engines.which, which) - first.engines.which.begin();
    const Result<MetricsSnapshot>&before = first.metrics[static_cast<size_t>(was)],
          &after = then.metrics[n];
    if (!before || !after || !CountersMoved(*before, *after).value_or(false))
      dead[which] = then.why[n];
  }
  return dead;
}

}  // namespace

const LifeWatch::Deaths& LifeWatch::Dead(const std::vector<size_t>& which,
                                         const std::vector<RecordedWorker>& workers) {
  if (look_.valid()) {
    if (look_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return dead_;
    Look look = look_.get();
    if (!ill_) ill_ = std::move(look.ill);
    for (const auto& [engine, why] : look.dead) {
      const auto ill = ill_->find(engine);
      if (ill == ill_->end() || ill->second != why) dead_.emplace(engine, why);
    }
    next_look_ns_ = clock_.NowNs() + kLookNs;
  }
  if (which.empty() || clock_.NowNs() < next_look_ns_) return dead_;
  AskedEngines asked{.which = which, .workers = {}, .facts = {}};
  for (const size_t i : which) {
    asked.workers.push_back(workers[i].worker);
    asked.facts.push_back(workers[i].facts);
  }
  look_ = std::async(std::launch::async, [&client = client_, &clock = clock_,
                                          asked = std::move(asked), is_first = !ill_.has_value()] {
    const Doubts doubts = Ask(client, asked);
    return Look{AskAgain(client, clock, doubts), is_first ? IllAlready(doubts) : Deaths{}};
  });
  return dead_;
}

}  // namespace tacho

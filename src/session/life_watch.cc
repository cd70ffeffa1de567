#include "session/life_watch.h"

#include <chrono>
#include <thread>

#include "control/liveness.h"

namespace tacho {
namespace {

constexpr std::chrono::milliseconds kBetweenQuestions{200};

struct AskedEngines {
  std::vector<size_t> which;
  std::vector<Worker> workers;
  std::vector<EngineFacts> facts;
};

std::map<size_t, std::string> AskOnce(HttpClient& client, const AskedEngines& asked) {
  const std::vector<std::string> why =
      WhyDead(client, asked.workers, asked.facts, kPatienceForLife);
  std::map<size_t, std::string> dead;
  for (size_t n = 0; n < why.size(); ++n)
    if (!why[n].empty()) dead[asked.which[n]] = why[n];
  return dead;
}

std::map<size_t, std::string> AskTwice(HttpClient& client, const AskedEngines& asked) {
  std::map<size_t, std::string> dead = AskOnce(client, asked);
  if (dead.empty()) return dead;
  std::this_thread::sleep_for(kBetweenQuestions);
  const std::map<size_t, std::string> again = AskOnce(client, asked);
  std::erase_if(dead, [&](const auto& death) { return !again.contains(death.first); });
  return dead;
}

}  // namespace

const std::map<size_t, std::string>& LifeWatch::Dead(const std::vector<size_t>& which,
                                                     const std::vector<RecordedWorker>& workers) {
  if (look_.valid()) {
    if (look_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return dead_;
    dead_.merge(look_.get());
    next_look_ns_ = MonotonicNs() + kLookNs;
  }
  if (which.empty() || MonotonicNs() < next_look_ns_) return dead_;
  AskedEngines asked{.which = which, .workers = {}, .facts = {}};
  for (const size_t i : which) {
    asked.workers.push_back(workers[i].worker);
    asked.facts.push_back(workers[i].facts);
  }
  look_ = std::async(std::launch::async, [&client = client_, asked = std::move(asked)] {
    return AskTwice(client, asked);
  });
  return dead_;
}

}  // namespace tacho

#include "control/live/held_engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "control/launch/profile_needs.h"
#include "control/live/liveness.h"
#include "control/live/probed_workers.h"
#include "control/live/start_stop.h"
#include "net/url.h"
#include "text/format_number.h"

namespace tacho {
namespace {

bool Exists(const std::string& target) {
  std::error_code ignored;
  return std::filesystem::exists(target, ignored);
}

// Whether all targets are files. Some may not exist yet.
bool AllAreFiles(const std::vector<std::string>& targets) {
  return std::all_of(targets.begin(), targets.end(), [](const std::string& target) {
    std::error_code ignored;
    return Exists(target) ? std::filesystem::is_regular_file(target, ignored) : MayBeFile(target);
  });
}

bool IsAsleep(const ProbedWorker& probed) {
  return probed.facts && probed.facts->asleep.value_or(false);
}

const ProbedWorker* Find(const std::vector<ProbedWorker>& workers, const std::string& url) {
  const auto found = std::find_if(workers.begin(), workers.end(),
                                  [&](const ProbedWorker& w) { return w.worker.url == url; });
  return found == workers.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> ChangesBetween(const std::vector<ProbedWorker>& before,
                                        const std::vector<ProbedWorker>& now) {
  std::vector<std::string> changes;
  for (const ProbedWorker& was : before)
    if (Find(now, was.worker.url) == nullptr)
      changes.push_back(was.worker.url + " left: it is not listed any more");
  for (const ProbedWorker& is : now) {
    const std::string& url = is.worker.url;
    const ProbedWorker* was = Find(before, url);
    if (was == nullptr) {
      changes.push_back(url + " joined");
    } else if (!is.facts) {
      if (was->facts)
        changes.push_back("an engine does not answer any more: " + is.facts.error().message);
    } else if (!was->facts) {
      changes.push_back(url + " answers again");
    } else if (was->facts->instance.IsAnother(is.facts->instance)) {
      changes.push_back(url + " was restarted: another process answers");
    }
    const bool was_asleep = was != nullptr && IsAsleep(*was);
    if (is.facts && IsAsleep(is) != was_asleep)
      changes.push_back(url + (was_asleep ? " is awake again" : " sleeps"));
  }
  return changes;
}

Result<EngineLook> HeldEngines::Look(const std::stop_token& stop) const {
  EngineLook look;
  const auto patience = ProbePatience(options_.patience);
  auto deployment = Discover(client_, options_.targets, stop, patience);
  if (!deployment) {
    const Error& error = deployment.error();
    const bool unwritten = error.kind == ErrorKind::kUsage && AllAreFiles(options_.targets);
    if (!unwritten && error.kind != ErrorKind::kRemote) return tl::unexpected<Error>(error);
    const auto missing = std::ranges::find_if_not(options_.targets, Exists);
    look.waits_for =
        !unwritten ? error.message
        : missing != options_.targets.end()
            ? ShownUrl(*missing) + ": there is no such file yet, and it is not an http:// address"
            : options_.targets[0] + " names no router and no engine yet";
    return look;
  }
  look.deployment = std::move(*deployment);
  if (const std::string& router = look.deployment.router_url; !router.empty()) {
    const std::string why = WhyRouterNotReady(client_, router, patience, stop).text;
    if (!why.empty()) look.waits_for = fmt::format("router {}: {}", router, why);
  }
  look.workers = ProbeWorkers(client_, look.deployment.workers, patience, stop);
  size_t up = 0, asleep = 0;
  std::string why_down;
  for (const ProbedWorker& probed : look.workers) {
    const std::string& url = probed.worker.url;
    std::string why = !probed.facts
                          ? probed.facts.error().message
                          : WhyNotReady(client_, url, probed.facts->kind, patience, stop).text;
    asleep += IsAsleep(probed) ? 1 : 0;
    up += why.empty() ? 1 : 0;
    if (!why.empty() && why_down.empty())
      why_down = probed.facts ? fmt::format("{}: {}", url, why) : why;
  }
  if (!look.waits_for.empty()) return look;
  const size_t wanted = std::max(options_.least_workers, look.workers.size());
  if (up < wanted) {
    look.waits_for = fmt::format("{} of {} ready{}{}", up, FormatCounted(wanted, "engine"),
                                 why_down.empty() ? "" : "; ", why_down);
  } else if (asleep > 0) {
    look.only_asleep = true;
    look.waits_for = fmt::format("{} of {} asleep{}", asleep, FormatCounted(wanted, "engine"),
                                 options_.wake ? "" : " (--wake wakes them)");
  }
  return look;
}

Result<void> HeldEngines::Lock(const ProbedWorker& probed) {
  const std::string& url = probed.worker.url;
  if (locks_.contains(url)) return {};
  TACHO_ASSIGN_OR_RETURN(SessionLock lock, SessionLock::Take({url}, kByHold));
  locks_.emplace(url, std::move(lock));
  if (probed.open) of_others_.insert(probed.open->key);
  return {};
}

Result<void> HeldEngines::Take(const EngineLook& look, const std::stop_token& stop) {
  std::vector<ControlRequest> wakes;
  std::vector<EngineFacts> facts;
  look_ = look;
  for (const ProbedWorker& probed : look.workers) {
    if (probed.CannotProfile())
      return tl::unexpected(ErrorOf(ProfilerOff(probed.worker.url, *probed.facts)));
    TACHO_RETURN_IF_ERROR(Lock(probed));
    if (!IsAsleep(probed)) continue;
    woken_[probed.worker.url] = probed.facts->sleep_level.value_or(1);
    wakes.push_back(PlanSleep(probed.worker, *probed.facts, false, 0));
    facts.push_back(*probed.facts);
  }
  for (const ControlOutcome& outcome : SendAll(client_, wakes, facts, options_.patience, stop))
    if (!outcome.IsGood())
      return Fail(ErrorKind::kRemote,
                  fmt::format("{}: does not wake: {}", outcome.url, outcome.said));
  return {};
}

std::string HeldEngines::Recorder() const {
  for (const auto& [url, lock] : locks_)
    if (const auto owner = SessionLock::OwnerOf(url); owner && !owner->starts_with(kByHold))
      return *owner;
  return "";
}

std::string HeldEngines::Woken() const {
  std::string urls;
  for (const auto& [url, level] : woken_) urls += (urls.empty() ? "" : " ") + url;
  return urls;
}

std::vector<std::string> HeldEngines::Watch(const std::stop_token& stop) {
  if (!Recorder().empty()) return {};
  auto look = Look(stop);
  std::vector<std::string> said;
  if (stop.stop_requested()) return said;
  // If a log is still being written or a router does not answer, keeps the engines that are known.
  if (!look || look->workers.empty()) {
    const std::string trouble = look ? look->waits_for : look.error().message;
    if (trouble != router_trouble_) said.push_back(trouble);
    router_trouble_ = trouble;
    auto workers =
        ProbeWorkers(client_, look_.deployment.workers, ProbePatience(options_.patience), stop);
    std::ranges::move(ChangesBetween(look_.workers, workers), std::back_inserter(said));
    look_.workers = std::move(workers);
    return said;
  }
  router_trouble_.clear();
  said = ChangesBetween(look_.workers, look->workers);
  look_ = std::move(*look);
  for (const ProbedWorker& probed : look_.workers)
    if (const auto locked = Lock(probed); !locked) said.push_back(locked.error().message);
  return said;
}

std::vector<std::string> HeldEngines::Release(bool& failed) {
  std::vector<std::string> said;
  std::vector<PlannedStop> stops;
  std::vector<ControlRequest> sleeps;
  std::vector<EngineFacts> facts;
  for (const ProbedWorker& probed : look_.workers) {
    if (!probed.facts) continue;
    const Worker& worker = probed.worker;
    if (const auto open = FindOpenSession(worker, *probed.facts);
        open && !of_others_.contains(open->key))
      stops.push_back(
          {*probed.facts, PlanStop(worker, *probed.facts, open->steps && !open->by_stage)});
    const auto woken = woken_.find(worker.url);
    if (woken == woken_.end()) continue;
    sleeps.push_back(PlanSleep(worker, *probed.facts, true, woken->second));
    facts.push_back(*probed.facts);
    woken_.erase(woken);
  }
  failed = !woken_.empty();
  if (failed) said.push_back(Woken() + ": gone, and not put to sleep again");
  const auto say = [&](const std::vector<ControlOutcome>& outcomes, std::string_view what) {
    size_t good = 0;
    for (const ControlOutcome& outcome : outcomes) {
      good += outcome.IsGood() ? 1 : 0;
      if (!outcome.IsGood()) said.push_back(fmt::format("{}: {}", outcome.url, outcome.said));
    }
    failed |= good < outcomes.size();
    if (!outcomes.empty())
      said.push_back(
          fmt::format("{} {} of {}", what, good, FormatCounted(outcomes.size(), "engine")));
  };
  // Passes no stop token: a second Ctrl-C ends the whole process.
  say(StopAll(client_, stops, options_.patience), "stopped the profilers of");
  say(SendAll(client_, sleeps, facts, options_.patience), "put to sleep again:");
  locks_.clear();
  return said;
}

}  // namespace tacho

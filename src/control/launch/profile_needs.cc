#include "control/launch/profile_needs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "control/engine_type.h"
#include "control/version.h"

namespace tacho {
namespace {

constexpr char kStacksUnbounded[] =
    "Python stacks without a bound on steps: an idle worker writes 1.6 million events a second, "
    "and 8 s of them took 15 GB of its memory and then its life";
constexpr char kNoFolderReported[] = "does not report where it writes its traces";

}  // namespace

Finding StacksUnbounded(const std::string& url, std::string remedy) {
  return {FindingId::kStacksUnbounded, url, kStacksUnbounded, std::move(remedy)};
}

int64_t SkippedIterations(const ProfilerFacts& profiler) {
  return profiler.wait_iterations.value_or(0) + profiler.warmup_iterations.value_or(0);
}

Finding ProfilerOff(const std::string& url, const EngineFacts& facts) {
  if (facts.profiler.launched_by_nsys)
    return {FindingId::kProfilerOff, url,
            "its own profiler is not configured: it runs under nsys launch",
            fmt::format("tacho record {} --via nsys", url)};
  return {
      FindingId::kProfilerOff, url, "its profiler is not configured",
      std::string(EngineRule(facts.kind, facts.version, "enable")) +
          (facts.profiler.has_daemon ? "; as it is, tacho record --via daemon profiles it" : "")};
}

Finding EngineAsleep(const std::string& url) {
  return {FindingId::kEngineAsleep, url, "it sleeps: an asleep engine takes no step",
          fmt::format("wake it: tacho engine wake {}", url)};
}

Finding FolderUnknown(const std::string& url, const EngineFacts& facts) {
  return {FindingId::kFolderUnknown, url, kNoFolderReported,
          fmt::format("tacho record needs --trace-dir DIR (the same disk), or --collect-from "
                      "HOST:DIR{}",
                      EngineRule(facts.kind, facts.version, "folder_in_start") == "yes"
                          ? ", with --output-dir DIR on its machine"
                          : EngineRule(facts.kind, facts.version, "reports_folder"))};
}

std::optional<Finding> FilesNotRead(const std::string& subject, const ProfilerFacts& profiler) {
  if (profiler.kind != "proton") return std::nullopt;
  return Finding{FindingId::kProtonNotRead, subject,
                 "profiler proton writes no trace that tacho reads: hatchet files hold sums by "
                 "kernel, without times",
                 R"("profiler":"torch" in --profiler-config)"};
}

std::optional<bool> StacksOf(const EngineFacts& facts, const ProfileOptions& options) {
  const bool takes_it =
      EngineRule(facts.kind, facts.version, "field.with_stack").starts_with("flag");
  if (takes_it && options.fields.contains("with_stack")) return options.IsOn("with_stack");
  return facts.profiler.with_stack;
}

std::optional<int64_t> OwnBound(const ProfilerFacts& profiler) {
  if (profiler.wait_iterations.value_or(0) + profiler.warmup_iterations.value_or(0) > 0)
    return profiler.active_iterations;
  if (profiler.max_iterations.value_or(0) > 0) return profiler.max_iterations;
  return std::nullopt;
}

std::optional<Finding> EndsByOwnBound(const std::string& url, const EngineFacts& facts) {
  const std::optional<int64_t> steps = OwnBound(facts.profiler);
  if (!steps) return std::nullopt;
  for (const char* const preset : {"light", "deep"})
    if (EngineRule(facts.kind, facts.version,
                   fmt::format("preset.{}.config.max_iterations", preset)) ==
        std::to_string(*steps))
      return std::nullopt;
  return Finding{FindingId::kOwnBound, url,
                 fmt::format("its own configuration ends each session after {} steps "
                             "(max_iterations): its window will hold no more",
                             *steps),
                 facts.profiler.reads_body ? "--steps N asks for another number" : ""};
}

std::string UnknownFolderText(const EngineFacts& facts) {
  return fmt::format("{}: {}", kNoFolderReported, EngineRule(facts.kind, facts.version, "folder"));
}

std::optional<Finding> FindObstacle(const Worker& worker, const EngineFacts& facts,
                                    const ProfileOptions& options) {
  return TypeOf(facts.kind).FindObstacle(worker, facts, options);
}

std::optional<Finding> EngineType::FindObstacle(const Worker& worker, const EngineFacts& facts,
                                                const ProfileOptions& options) const {
  const ProfilerFacts& profiler = facts.profiler;
  if (!profiler.has_http) return ProfilerOff(worker.url, facts);
  if (facts.asleep.value_or(false)) return EngineAsleep(worker.url);
  const bool bounded = (profiler.reads_body && options.steps) ||
                       profiler.max_iterations.value_or(0) > 0 ||
                       profiler.active_iterations.value_or(0) * SkippedIterations(profiler) > 0;
  const std::string_view off = EngineRule(facts.kind, facts.version, "stacks_off");
  // A version that cannot switch stacks off is not ruled out here: FindRisks reports it.
  if (StacksOf(facts, options).value_or(false) && !bounded && !off.empty())
    return StacksUnbounded(
        worker.url, fmt::format("{}{}", profiler.reads_body ? "give --steps N, or " : "", off));
  return std::nullopt;
}

std::vector<Finding> FindRisks(const Worker& worker, const EngineFacts& facts,
                               const ProfileOptions& options) {
  std::vector<Finding> risks;
  const auto add = [&](FindingId id, std::string evidence, std::string remedy = "") {
    risks.push_back({id, worker.url, std::move(evidence), std::move(remedy)});
  };
  if (!facts.not_believed.empty())
    add(FindingId::kRanksUnknown,
        fmt::format("it tells {}, which no engine has: how many ranks it has is not known",
                    facts.not_believed));
  if (EngineRule(facts.kind, facts.version, "start_step") == "no")
    add(FindingId::kSessionsNotReported,
        fmt::format("{} {} does not report whether somebody profiles it: the start throws "
                    "such a window away",
                    TypeOf(facts.kind).title(), facts.version));
  constexpr std::string_view kRisk = "risk.";
  for (const std::string& key : RuleKeys(NameOf(facts.kind), kRisk)) {
    const std::string_view rule =
        EngineRule(facts.kind, facts.version, fmt::format("{}{}", kRisk, key));
    const size_t bar = std::min(rule.find('|'), rule.size());
    if (const auto id = FindingNamed(key); id && !rule.empty())
      add(*id, std::string(Trim(rule.substr(0, bar))),
          std::string(Trim(rule.substr(std::min(bar + 1, rule.size())))));
  }
  TypeOf(facts.kind).AddRisks(worker, facts, options, risks);
  return risks;
}

}  // namespace tacho

#include "session/run_folder/compare_recordings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "analysis/compare/run_noise.h"
#include "text/format_number.h"

namespace tacho {
namespace {

using ComparedSide = std::vector<std::optional<KeptRun>>;
using WhichWindow = std::optional<KeptWindow> KeptRecording::*;

struct ComparedFigure {
  const char* name;
  std::function<std::optional<double>(const KeptWindow&)> of;
};

std::vector<ComparedFigure> ComparedFigures() {
  const auto time = [](std::optional<KeptTimes> KeptWindow::*times, DurationNs KeptTimes::*which) {
    return [=](const KeptWindow& window) {
      return window.*times ? std::optional(static_cast<double>(((*(window.*times)).*which).ns))
                           : std::nullopt;
    };
  };
  return {{"ttft.p50", time(&KeptWindow::ttft, &KeptTimes::p50)},
          {"ttft.p99", time(&KeptWindow::ttft, &KeptTimes::p99)},
          {"tpot.p50", time(&KeptWindow::tpot, &KeptTimes::p50)},
          {"tpot.p99", time(&KeptWindow::tpot, &KeptTimes::p99)},
          {"throughput", [](const KeptWindow& window) { return window.tokens_per_second; }},
          {"requests",
           [](const KeptWindow& window) {
             return window.duration.ns > 0
                        ? std::optional(static_cast<double>(window.requests_done) * 1e9 /
                                        static_cast<double>(window.duration.ns))
                        : std::nullopt;
           }},
          {"failed", [](const KeptWindow& window) {
             return std::optional(static_cast<double>(window.requests_failed));
           }}};
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

bool AllHave(const ComparedSide& runs, WhichWindow window) {
  return std::ranges::all_of(runs, [&](const std::optional<KeptRun>& run) {
    return run && (run->recording.*window).has_value();
  });
}
bool AnyLoad(const ComparedSide& runs) {
  return std::ranges::any_of(runs, [](const std::optional<KeptRun>& run) {
    return run && (run->recording.baseline || run->recording.profiled);
  });
}

// The fields that differ, with both values: "concurrency (8, 16), rate (none, 4.0)".
std::string DifferencesOf(const KeptLoad& a, const KeptLoad& b) {
  std::set<std::string> keys;
  for (const KeptLoad* load : {&a, &b}) {
    for (const auto& [key, value] : *load) keys.insert(key);
  }
  std::vector<std::string> differences;
  for (const std::string& key : keys) {
    const auto value = [&](const KeptLoad& load) {
      const auto at = load.find(key);
      return at == load.end() ? "none" : at->second;
    };
    if (value(a) != value(b))
      differences.push_back(fmt::format("{} ({}, {})", key, value(a), value(b)));
  }
  return fmt::format("{}", fmt::join(differences, ", "));
}

bool AllSayTheirLoad(const ComparedSide& runs) {
  return std::ranges::all_of(
      runs, [](const std::optional<KeptRun>& run) { return run && run->load.has_value(); });
}

// How the loads of the runs differ; "" if they do not. Every run must have recorded its load.
std::string OtherLoads(const ComparedSide& base, const ComparedSide& now) {
  const KeptLoad& first = *base.front()->load;
  for (const ComparedSide* side : {&base, &now}) {
    for (const std::optional<KeptRun>& run : *side) {
      if (*run->load != first)
        return (side == &now ? "the loads of base and new differ: "
                             : "the loads of base differ: ") +
               DifferencesOf(first, *run->load);
    }
  }
  return "";
}

std::vector<double> ValuesOf(const ComparedSide& runs, WhichWindow window,
                             const ComparedFigure& figure) {
  std::vector<double> values;
  for (const std::optional<KeptRun>& run : runs) {
    if (const auto value = figure.of(*(run->recording.*window))) values.push_back(*value);
  }
  return values;
}

// Says how many of a side's `runs` lack a figure; "" if none lacks it.
std::string LacksFigure(std::string_view side, size_t lack, size_t runs) {
  if (lack == 0) return "";
  return runs == 1 ? fmt::format("{} has none", side)
                   : fmt::format("{} of {} runs of {} lack it", lack, runs, side);
}

DurationNs WindowLength(const ComparedSide& runs, WhichWindow window) {
  DurationNs longest;
  for (const std::optional<KeptRun>& run : runs)
    longest = std::max(longest, (run->recording.*window)->duration);
  return longest;
}

void CompareLoads(const ComparedSide& base, const ComparedSide& now, RunChanges& changes) {
  if (!AnyLoad(base) || !AnyLoad(now)) {
    changes.why_no_load = fmt::format("{} is not a recording of tacho record under a load",
                                      AnyLoad(base) ? "new" : "base");
    return;
  }
  const bool known = AllSayTheirLoad(base) && AllSayTheirLoad(now);
  if (std::string why = known ? OtherLoads(base, now) : ""; !why.empty()) {
    changes.obstacles.push_back({"other-load", why});
    changes.why_no_load = std::move(why);
    return;
  }
  const auto cannot = [&](std::string why) {
    changes.remarks.push_back("no load figures: " + why);
    changes.why_no_load = std::move(why);
  };
  const auto both_have = [&](WhichWindow window) {
    return AllHave(base, window) && AllHave(now, window);
  };
  const bool unprofiled = both_have(&KeptRecording::baseline);
  const WhichWindow window = unprofiled ? &KeptRecording::baseline : &KeptRecording::profiled;
  if (!both_have(window)) return cannot("not every run recorded its load");
  if (!known) return cannot("a run folder has no plan.json that can be read");
  std::map<std::string, std::vector<std::string>> left_out;  // by reason
  for (const ComparedFigure& figure : ComparedFigures()) {
    const std::vector<double> of_base = ValuesOf(base, window, figure),
                              of_now = ValuesOf(now, window, figure);
    if (of_base.empty() && of_now.empty()) {
      changes.load_lacks["load." + std::string(figure.name)] = "no run has it";
      continue;
    }
    // A mean of the runs that have the figure would hide why others lack it, such as failed
    // requests.
    std::string lacks = LacksFigure("base", base.size() - of_base.size(), base.size());
    if (lacks.empty()) lacks = LacksFigure("new", now.size() - of_now.size(), now.size());
    if (!lacks.empty()) {
      changes.load_lacks["load." + std::string(figure.name)] = lacks;
      left_out[lacks].emplace_back(figure.name);
      continue;
    }
    changes.load.push_back(
        {figure.name, {MeanOf(of_base), MeanOf(of_now), HalfWidthOverRuns(of_base, of_now)}});
  }
  for (const auto& [why, names] : left_out)
    changes.remarks.push_back(fmt::format("no {} of the load: {}", fmt::join(names, ", "), why));
  changes.remarks.push_back(fmt::format(
      "the figures of the load are of its {} windows (base {}, new {}){}",
      unprofiled ? "unprofiled" : "profiled", FormatDuration(WindowLength(base, window)),
      FormatDuration(WindowLength(now, window)),
      unprofiled ? "" : ", because not every run has an unprofiled one"));
}

// "slowed base by 3.1 % ± 0.4 %": the mean over the runs.
std::string CostOf(const ComparedSide& runs, std::string_view side) {
  double shares = 0, squares = 0, count = 0;
  for (const std::optional<KeptRun>& run : runs) {
    if (!run || !run->recording.cost_share || !run->recording.cost_error) continue;
    shares += *run->recording.cost_share;
    squares += *run->recording.cost_error * *run->recording.cost_error;
    ++count;
  }
  if (count == 0) return "";
  const double share = shares / count, error = std::sqrt(squares) / count;
  if (std::abs(share) <= error)
    return fmt::format("did not slow {} beyond {:.1f} % noise", side, 100 * error);
  if (share < 0)
    return fmt::format("did not slow {}, which was {:.1f} % ± {:.1f} % faster meanwhile", side,
                       -100 * share, 100 * error);
  return fmt::format("slowed {} by {:.1f} % ± {:.1f} %", side, 100 * share, 100 * error);
}

void AddCosts(const ComparedSide& base, const ComparedSide& now, RunChanges& changes) {
  std::string costs = CostOf(base, "base");
  const std::string of_now = CostOf(now, "new");
  if (!of_now.empty()) costs += (costs.empty() ? "" : ", ") + of_now;
  if (!costs.empty()) changes.remarks.push_back("profiling " + costs);
}

// The models of one side; "" if a run does not name its models.
std::string ModelsOfSide(const ComparedSide& runs) {
  std::set<std::string> models;
  for (const std::optional<KeptRun>& run : runs) {
    if (!run || run->recording.models.empty()) return "";
    models.insert(run->recording.models.begin(), run->recording.models.end());
  }
  return fmt::format("{}", fmt::join(models, ", "));
}

}  // namespace

std::optional<KeptRun> KeptRunOf(const std::string& path) {
  if (path == "-") return std::nullopt;
  std::optional<KeptRecording> recording = KeptRecordingOf(RunJsonFor(path));
  if (!recording) return std::nullopt;
  return KeptRun{std::move(*recording), KeptLoadOf(PlanFactsFor(path))};
}

std::vector<std::optional<KeptRun>> KeptRunsOf(const std::vector<std::string>& paths) {
  std::vector<std::optional<KeptRun>> runs;
  for (const std::string& path : paths) runs.push_back(KeptRunOf(path));
  return runs;
}

void CompareRecordings(const ComparedSide& base, const ComparedSide& now, RunChanges& changes) {
  const std::string before = ModelsOfSide(base), after = ModelsOfSide(now);
  if (!before.empty() && !after.empty() && before != after) {
    changes.obstacles.insert(
        changes.obstacles.begin(),
        {"other-model", fmt::format("other models: base {}, new {}", before, after)});
  }
  CompareLoads(base, now, changes);
  AddCosts(base, now, changes);
}

}  // namespace tacho

#include "cli/record/record_ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "cli/screen/overhead_text.h"
#include "load/result/load_summary.h"
#include "report/words/verdict.h"
#include "text/format_number.h"
#include "text/labelled.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

constexpr size_t kMostWorkersShown = 8;
// If a change lies within its error, and the error is a larger share of the rate than this, the
// ending says "cannot tell".
constexpr double kMostError = 0.25;

// The number of steps in each rank's trace: "479 to 514 steps each", or by stage "prefill 3 steps,
// decode 5 steps"; "" if no trace names steps.
std::string StepsText(const Proof& proof) {
  struct Range {
    uint64_t least = UINT64_MAX, most = 0;
  };
  std::map<std::string, Range> of_stages;  // "": all stages
  const auto add = [&](const std::string& stage, uint64_t steps) {
    Range& range = of_stages[stage];
    range = {std::min(range.least, steps), std::max(range.most, steps)};
  };
  for (const RankProof& rank : proof.ranks) {
    for (const auto& [stage, steps] : rank.steps_of_stages) add(stage, steps);
    if (rank.steps && rank.steps_of_stages.empty()) add("", *rank.steps);
  }
  std::string text;
  for (const auto& [stage, range] : of_stages) {
    if (range.most == 0) continue;
    text += fmt::format("{}{}{}{}{}", text.empty() ? "" : ", ", stage, stage.empty() ? "" : " ",
                        range.least == range.most ? "" : fmt::format("{} to ", range.least),
                        FormatCounted(range.most, "step"));
  }
  return text.empty() || proof.ranks.size() < 2 ? text : text + " each";
}

std::string ProofText(const Recording& recording, const Proof& proof, const TextStyle& style) {
  const auto proven = std::ranges::count_if(proof.ranks, &RankProof::proven);
  std::string text =
      ProvenText(proven, std::ssize(proof.ranks), static_cast<int64_t>(proof.Incomplete()));
  if (const std::string steps = StepsText(proof); !steps.empty())
    text += fmt::format("{}{}", style.dot(), steps);
  // With Kineto's daemon all profilers begin at the requested time, so the time from the first to
  // the last start is not measured.
  const ControlSpread& starts = recording.starts;
  if (starts.taken < starts.asked)
    text += fmt::format("{}{}", style.dot(), starts.Text("profiler"));
  else if (starts.answered_ns)
    text += fmt::format("{}started within {:.2f} ms", style.dot(),
                        static_cast<double>(*starts.answered_ns) / 1e6);
  return text;
}

// The median and p99 of a latency: "TTFT p50 12.1, p99 30.0 ms"; "" without requests.
std::string TimesText(std::string_view name, const Distribution& times) {
  if (times.count == 0) return "";
  const DurationNs median{std::llround(*times.At(50))}, p99{std::llround(*times.At(99))};
  return fmt::format("{} p50 {}, p99 {} ms", name, FormatIn(median, TimeUnit::kMs),
                     FormatIn(p99, TimeUnit::kMs));
}

std::string LatencyText(const LoadWindow& window, std::string_view which, const TextStyle& style) {
  const std::string ttft = TimesText("TTFT", window.ttft), tpot = TimesText("TPOT", window.tpot);
  if (ttft.empty() && tpot.empty()) return "";
  return fmt::format("{}{}{} {}", ttft, ttft.empty() || tpot.empty() ? "" : style.dot(), tpot,
                     which);
}

// A recording's problems, by kind.
struct WhatIsLacking {
  std::vector<std::string> missing, troubles, notes;

  explicit WhatIsLacking(const Recording& recording, const Proof& proof)
      : missing(TextsOf(proof.Missing(), true)), notes(TextsOf(proof.remarks, false)) {
    for (const Finding& finding : recording.findings)
      if (finding.IsTrouble() && !IsNamed(finding, proof)) troubles.push_back(finding.Text());
    // The line "proof" already counts the ranks that lost data.
    for (const Finding& remark : proof.remarks)
      if (remark.IsTrouble() && std::ranges::none_of(proof.ranks, [&](const RankProof& rank) {
            return rank.loss && rank.loss->subject == remark.subject;
          }))
        troubles.push_back(remark.Text());
  }
  // Whether a missing rank of the same worker already gives this trouble as its reason.
  static bool IsNamed(const Finding& trouble, const Proof& proof) {
    return std::ranges::any_of(proof.ranks, [&](const RankProof& rank) {
      return rank.why && rank.why->id == trouble.id &&
             (trouble.subject.empty() || trouble.subject == rank.worker_url) &&
             rank.why->evidence.starts_with(trouble.evidence);
    });
  }
  [[nodiscard]] size_t count() const { return missing.size() + troubles.size() + notes.size(); }
};

// The line of the ending that names the worst problem, and how many others the part above lists.
Labelled FirstLack(const WhatIsLacking& lacks, const Proof& proof) {
  Labelled first;
  std::string text, rest;
  const auto add = [&](std::string_view label, const std::vector<std::string>& all, Paint paint,
                       std::string_view one) {
    if (all.empty()) return;
    size_t more = all.size();
    if (first.label.empty()) {
      first = {std::string(label), {}, paint};
      text = all.front();
      --more;
    }
    if (more > 0) rest += fmt::format("{}{}", rest.empty() ? "" : ", ", FormatCounted(more, one));
  };
  add("missing", lacks.missing, Paint::kRed, "more rank");
  add("trouble", lacks.troubles, Paint::kRed, lacks.missing.empty() ? "more trouble" : "trouble");
  add("note", lacks.notes, Paint::kPlain, first.label.empty() ? "more note" : "note");
  if (!lacks.missing.empty())
    text = fmt::format("{} of {} ranks: {}", lacks.missing.size(), proof.ranks.size(), text);
  if (!rest.empty()) text += fmt::format(" (above: {})", rest);
  first.parts = {std::move(text)};
  return first;
}

// Nsight's exports of a run, as a pattern for a shell.
std::string StatsFilesOf(const Recording& recording, const std::string& run) {
  return recording.workers.size() > 1
             ? ShellWord(run) + "/traces/*/*.sqlite"
             : ShellWord(fmt::format("{0}/traces/{1}/{1}.sqlite", run,
                                     recording.workers[0].expectation.name));
}

}  // namespace

std::string CostText(double unprofiled, double profiled, double share, double error) {
  const std::string seen =
      std::abs(share) <= error ? error > kMostError
                                     ? "cannot tell: the rate varies too much"
                                     : fmt::format("no change beyond {:.0f} % noise", 100 * error)
      : share < 0 ? fmt::format("no cost seen: {:.1f} % faster with it, give or take {:.1f} %",
                                -100 * share, 100 * error)
                  : fmt::format("{:+.1f} %, give or take {:.1f} %", -100 * share, 100 * error);
  return fmt::format("{:.0f} tok/s unprofiled, {:.0f} profiled: {}", unprofiled, profiled, seen);
}

std::string EndingText(const Recording& recording, const ProvenRecording& proven,
                       const EndingFolders& folders, const TextStyle& style) {
  std::vector<Labelled> texts;
  const auto add = [&](std::string_view label, std::string text, Paint paint = Paint::kPlain) {
    if (!text.empty()) texts.push_back({std::string(label), {std::move(text)}, paint});
  };
  const bool any = proven.HasAnalysis(recording);
  if (any) {
    RunVerdict verdict = VerdictOf(proven.readout->run);
    add("VERDICT", WholeOrBrief(verdict.text, verdict.brief, style), Paint::kBold);
    add("caveat", std::move(verdict.caveat), Paint::kYellow);
  }
  add("proof", ProofText(recording, proven.proof, style));
  const std::string overhead =
      recording.overhead ? OverheadSummary(*recording.overhead, style) : "";
  if (!overhead.empty())
    add("cost", overhead);
  else if (const auto cost = recording.CostOfProfiling())
    add("cost", CostText(*recording.baseline.TokensPerSecond(),
                         *recording.profiled.TokensPerSecond(), cost->share, cost->error));
  bool labelled = false;
  const auto add_latency = [&](std::string text, Paint paint = Paint::kPlain) {
    if (text.empty()) return;
    add(labelled ? "" : "latency", std::move(text), paint);
    labelled = true;
  };
  add_latency(LatencyText(recording.baseline, "unprofiled", style));
  add_latency(LatencyText(recording.profiled, "profiled", style));
  if (recording.load && Summarise(*recording.load, {}).verdict.client_bound)
    add_latency("the client was the limit: times of requests are partly its own", Paint::kRed);
  if (const WhatIsLacking lacks(recording, proven.proof); lacks.count() > 0)
    texts.push_back(FirstLack(lacks, proven.proof));
  const auto copied = [&](std::string_view label, std::string text) {
    texts.push_back({std::string(label), {std::move(text)}, Paint::kPlain, true});
  };
  copied("folder", folders.run);
  if (proven.has_report) copied("report", folders.run + "/report.html");
  if (any) copied("next", "tacho analyze " + ShellWord(folders.run + "/traces"));
  if (any && recording.nsys) copied("", "tacho stats " + StatsFilesOf(recording, folders.run));
  if (any && !folders.earlier.empty())
    copied("",
           fmt::format("tacho compare {} {}", ShellWord(folders.earlier), ShellWord(folders.run)));
  return RenderWithin(texts, kMostEndingLines, style);
}

std::string DetailsText(const Recording& recording, const ProvenRecording& proven,
                        const TextStyle& style) {
  std::string text;
  const WhatIsLacking lacks(recording, proven.proof);
  const auto add = [&](std::string_view label, const std::vector<std::string>& all, Paint paint) {
    for (const std::string& each : all)
      text += RenderText(Labelled{std::string(label), {each}, paint}, style);
  };
  bool is_told = lacks.count() == 0;
  if (lacks.count() == 1) {
    const std::string whole = RenderText(FirstLack(lacks, proven.proof), style);
    is_told = EndingText(recording, proven, {}, style).find(whole) != std::string::npos;
  }
  if (!is_told) {
    add("missing", lacks.missing, Paint::kRed);
    add("trouble", lacks.troubles, Paint::kRed);
    add("note", lacks.notes, Paint::kPlain);
  }
  return text;
}

std::string WorkersText(const Recording& recording, const TextStyle& style) {
  std::vector<std::string> workers;
  for (const RecordedWorker& worker : recording.workers) {
    if (workers.size() == kMostWorkersShown) {
      workers.push_back(
          fmt::format("{} more (run.json)", recording.workers.size() - kMostWorkersShown));
      break;
    }
    workers.push_back(worker.expectation.name + " " + worker.worker.url);
  }
  return workers.size() > 1 ? RenderText(Labelled{"workers", std::move(workers)}, style) : "";
}

std::string ProvenText(int64_t proven, int64_t ranks, int64_t incomplete) {
  return fmt::format("{} of {} ranks proven{}", proven, ranks,
                     incomplete > 0 ? fmt::format(", {} incomplete", incomplete) : "");
}

}  // namespace tacho

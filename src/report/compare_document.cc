#include "report/compare_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/compare_tables.h"
#include "report/compare_words.h"
#include "report/report_parts.h"
#include "text/format_number.h"

namespace tacho {
namespace {

// "base  runs/before · 7 more traces · vLLM 0.32.0 · 8 ranks · NVIDIA H200".
Labelled SideLine(const std::string& label, const SideFacts& facts) {
  TraceFacts engine;
  engine.engine = facts.engine;
  engine.engine_version = facts.version;
  const size_t others = facts.paths.empty() ? 0 : facts.paths.size() - 1;
  return {label,
          {facts.paths.empty() ? "no trace" : facts.paths.front(),
           others > 0 ? FormatCounted(others, "more trace") : "", EngineText(engine),
           facts.runs > 1 ? FormatCounted(facts.runs, "run") : "",
           facts.ranks > 1 ? FormatCounted(facts.ranks, "rank") : "", facts.gpus}};
}

std::string InCapitals(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

void AddPhase(const PhaseChange& phase, const CompareView& view, Document& document) {
  const std::string name(PhaseName(phase.phase));
  std::vector<NamedChange> parts = phase.parts;
  parts.push_back({"batch mix", phase.mix});
  const auto beyond_noise = static_cast<size_t>(std::ranges::count_if(
      parts, [](const NamedChange& part) { return part.change.IsBeyondNoise(); }));
  if (beyond_noise > 0 || view.all) {
    document.AddPart(
        TitledTable{.table = WaterfallTable(WaterfallOf(phase), parts, name + "_parts"),
                    .title = fmt::format("What a {} step consists of", name),
                    .screen_title = InCapitals(name) + " STEP",
                    .screen_rows = view.all ? SIZE_MAX : std::min(beyond_noise, view.top)});
  }
  document.AddPart(TitledTable{
      .table = ChangedKernelsTable(phase.kernels, name + "_kernels", view.style, !view.all),
      .title = fmt::format("Kernels of a {} step", name),
      .screen_title = InCapitals(name) + " KERNELS",
      .screen_rows = view.top});
  const size_t shown = std::min(phase.renamed.size(), view.top);
  for (const RenamedKernel& pair : std::span(phase.renamed).first(shown)) {
    document.Add(Remark{"renamed? ", fmt::format("{} -> {}: {}", ShortKernelName(pair.before),
                                                 ShortKernelName(pair.after), pair.reason)});
  }
  if (shown < phase.renamed.size())
    document.Add(Remark{
        "renamed? ", fmt::format("{} more pairs (--json has all)", phase.renamed.size() - shown)});
}

void AddWhole(const WholeChange& whole, const CompareView& view, Document& document) {
  document.AddPart(TitledTable{.table = WaterfallTable(WaterfallOf(whole), whole.parts, "parts"),
                               .title = "The whole recording, of one device",
                               .screen_title = "WHOLE RECORDING"});
  document.AddPart(
      TitledTable{.table = ChangedKernelsTable(whole.rows, "kernels", view.style, false),
                  .title = "Kernels of the whole recording",
                  .screen_rows = view.top});
  document.Add(
      Paragraph{"of one device on average; one measurement a side, so no bounds", Paint::kDim});
}

// Whether the comparison goes on.
bool AddObstacles(const RunChanges& changes, const CompareView& view, Document& document) {
  for (const Obstacle& obstacle : changes.obstacles) {
    if (view.anyway || &obstacle != &changes.obstacles.front())
      document.Add(
          Remark{view.anyway ? "not comparable: " : "also: ", obstacle.text, "", Paint::kYellow});
  }
  if (changes.obstacles.empty() || view.anyway) return true;
  document.AddForScreen(Remark{"--anyway compares them all the same", "", "", Paint::kDim});
  return false;
}

void AddRemarks(const RunChanges& changes, Document& document) {
  for (const std::string& remark : changes.remarks) document.Add(Remark{"note", ": " + remark});
}

}  // namespace

Document CompareDocument(const RunChanges& changes, const std::vector<GateResult>& gates,
                         const CompareView& view) {
  Document document;
  document.Add(SideLine("base", changes.base));
  document.Add(SideLine("new", changes.now));
  document.Add(Gap{});
  RunChanges compared = changes;
  if (view.anyway) compared.obstacles.clear();
  document.Add(Labelled{"verdict", {CompareVerdict(compared)}, Paint::kBold});
  if (!AddObstacles(changes, view, document)) {
    AddRemarks(changes, document);
    return document;
  }
  for (const GateResult& result : gates) {
    const bool passed = result.outcome == GateResult::Outcome::kPassed;
    document.Add(Labelled{"gate", {GateText(result)}, passed ? Paint::kPlain : Paint::kRed});
  }
  document.AddPart(TitledTable{.table = ChangedStepsTable(changes), .title = "Steps"});
  for (const PhaseChange& phase : changes.phases) {
    if (phase.cannot_tell.empty()) AddPhase(phase, view, document);
  }
  if (changes.whole) AddWhole(*changes.whole, view, document);
  const auto add_figures = [&](const std::vector<NamedChange>& figures, std::string name,
                               const std::string& title, Unit unit) {
    document.AddPart(
        TitledTable{.table = ChangedFiguresTable(figures, std::move(name), title, unit),
                    .title = title,
                    .screen_rows = view.top});
  };
  document.AddPart(
      TitledTable{.table = ChangedLoadTimesTable(changes.load), .title = "Load: latencies"});
  document.AddPart(
      TitledTable{.table = ChangedLoadNumbersTable(changes.load), .title = "Load: throughput"});
  add_figures(changes.launches, "launches", "launches in a step (no bounds)", Unit::kNumber);
  if (view.all)
    add_figures(changes.operators, "operators",
                "operators: self time on the host in a step (no bounds)", Unit::kDuration);
  document.Add(Gap{});
  for (const PhaseChange& phase : changes.phases) {
    if (!phase.cannot_tell.empty())
      document.Add(
          Remark{std::string(PhaseName(phase.phase)), ": cannot tell, " + phase.cannot_tell});
  }
  AddRemarks(changes, document);
  return document;
}

}  // namespace tacho

#include "cli/screen/overhead_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "session/http/flush_progress.h"
#include "text/document.h"
#include "text/format_number.h"

namespace tacho {
namespace {

std::string NameOnScreen(OverheadFigureId id) {
  switch (id) {
    case OverheadFigureId::kThroughput:
      return "tok/s";
    case OverheadFigureId::kStep:
      return "time of a step";
    case OverheadFigureId::kItl:
      return "ITL";
    case OverheadFigureId::kTtft:
      return "TTFT";
  }
  return "";
}

std::string ValueText(OverheadFigureId id, double value) {
  return IsTime(id) ? FormatDuration(DurationNs{std::llround(value)})
                    : fmt::format("{:.0f}", value);
}

std::string BoundsText(const OverheadEstimate& estimate) {
  return fmt::format("{:+.1f} to {:+.1f} %", 100 * estimate.low, 100 * estimate.high);
}

std::string VerdictText(const OverheadFigure& figure) {
  const OverheadEstimate& estimate = *figure.estimate;
  switch (figure.verdict) {
    case OverheadVerdict::kCost:
      return "a cost";
    case OverheadVerdict::kFaster:
      return "no cost seen: faster with it";
    case OverheadVerdict::kNoCost:
      return fmt::format("no cost beyond {:.1f} %",
                         100 * (IsTime(figure.id) ? estimate.high : -estimate.low));
    case OverheadVerdict::kInconclusive:
      return "inconclusive";
  }
  return "";
}

}  // namespace

std::string OverheadText(const Overhead& overhead, const TextStyle& style) {
  const OverheadOptions& asked = overhead.asked;
  const std::string of = asked.preset.empty() ? "" : fmt::format(" of preset {}", asked.preset);
  Table table{.name = "overhead",
              .columns = {{.key = "figure", .name = "cost of looking" + of},
                          {.key = "unprofiled", .name = "unprofiled"},
                          {.key = "profiled", .name = "profiled"},
                          {.key = "change", .name = "change"},
                          {.key = "bounds", .name = "95 % bounds"},
                          {.key = "verdict", .name = "verdict"}},
              .rows = {}};
  bool inconclusive = false;
  for (const OverheadFigure& figure : overhead.figures) {
    if (!figure.estimate) continue;
    const OverheadEstimate& estimate = *figure.estimate;
    inconclusive = inconclusive || figure.verdict == OverheadVerdict::kInconclusive;
    table.Add({NameOnScreen(figure.id), ValueText(figure.id, estimate.unprofiled),
               ValueText(figure.id, estimate.profiled),
               fmt::format("{:+.1f} %", 100 * estimate.change), BoundsText(estimate),
               VerdictText(figure)});
  }
  const auto line = [&](std::string text) {
    return RenderText(Labelled{.label = "", .parts = {std::move(text)}}, style,
                      {.margin = 1, .label_width = 0});
  };
  std::string text;
  if (!table.rows.empty()) text += RenderText(table, style);
  const std::string blocks = fmt::format(
      "{} of {} blocks of four windows of {}{}", overhead.blocks, overhead.blocks_planned,
      SecondsText(asked.window_ns),
      overhead.blocks_with_failures == 0
          ? ""
          : fmt::format("; in {} more, requests failed", overhead.blocks_with_failures));
  text += line(table.rows.empty()
                   ? "cost of looking" + of + ": cannot tell: two blocks are needed: " + blocks
                   : blocks +
                         "; change: the mean over the blocks, each its own ratio; no other "
                         "figure is corrected for this cost");
  if (inconclusive)
    text += line(fmt::format(
        "inconclusive: no change lies within the bounds, and they are wider than the {:.3g} % "
        "asked for (--precision); more --pairs, a longer --overhead-window, or requests of one "
        "length (--prompt-tokens, --output-tokens) narrow them",
        100 * asked.precision));
  return text;
}

std::string OverheadSummary(const Overhead& overhead, const TextStyle& style) {
  std::string text;
  for (const OverheadFigureId id : {OverheadFigureId::kThroughput, OverheadFigureId::kStep}) {
    const OverheadFigure* const figure = overhead.Find(id);
    if (figure == nullptr) continue;
    text += fmt::format("{}{} {:+.1f} % ({}): {}", text.empty() ? "" : style.dot(),
                        NameOnScreen(id), 100 * figure->estimate->change,
                        BoundsText(*figure->estimate), VerdictText(*figure));
  }
  return text;
}

std::string StepChangeText(const KeptChange& change) {
  if (change.low <= 0 && change.high >= 0)
    return fmt::format(
        "whether profiled steps take longer than unprofiled ones is inconclusive ({:+.1f} to "
        "{:+.1f} %)",
        100 * change.low, 100 * change.high);
  return fmt::format(
      "profiled steps take {:.1f} % {} than unprofiled ones ({:+.1f} to {:+.1f} %); no figure is "
      "corrected for that",
      100 * std::abs(change.change), change.change < 0 ? "less time" : "longer", 100 * change.low,
      100 * change.high);
}

}  // namespace tacho

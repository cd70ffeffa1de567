#include "report/html/html_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/documents/compare_document.h"
#include "report/html/html_sections.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr size_t kMostBars = 14;
// If every bar is shorter than this share of the largest value, the axis does not start at 0.
constexpr double kWorthFromZero = 0.05;
constexpr double kThinnestBar = 0.15;  // percent of the width

std::string SignedDuration(int64_t ns) {
  return (ns < 0 ? "-" : "+") + FormatDuration({std::abs(ns)});
}

// The bars to draw: those beyond noise (or all, if none is), at most kMostBars, then one bar for
// all others.
std::vector<Waterfall::Bar> DrawnBars(const Waterfall& fall) {
  std::vector<Waterfall::Bar> bars = fall.bars;
  const bool any_beyond_noise = std::ranges::any_of(bars, &Waterfall::Bar::beyond_noise);
  std::ranges::stable_sort(bars, std::greater{}, [&](const Waterfall::Bar& bar) {
    return std::pair(bar.beyond_noise || !any_beyond_noise, std::abs(bar.ns));
  });
  const auto shown = static_cast<size_t>(std::ranges::count_if(
      bars, [&](const Waterfall::Bar& bar) { return bar.beyond_noise || !any_beyond_noise; }));
  const size_t kept = std::min(shown, kMostBars);
  if (kept == bars.size()) return bars;
  Waterfall::Bar others{kept < shown || !any_beyond_noise
                            ? fmt::format("[{}]", FormatCounted(bars.size() - kept, "other"))
                            : fmt::format("[{} within noise]", bars.size() - kept)};
  for (size_t i = kept; i < bars.size(); ++i) others.ns += bars[i].ns;
  bars.resize(kept);
  bars.push_back(std::move(others));
  return bars;
}

// The times at which the axis starts and ends.
struct ChartAxis {
  double from = 0, to = 0;

  ChartAxis(const Waterfall& fall, const std::vector<Waterfall::Bar>& bars) {
    auto at = static_cast<double>(fall.base), least = at, largest_step = 0.0;
    to = std::max(at, static_cast<double>(fall.now));
    for (const Waterfall::Bar& bar : bars) {
      at += static_cast<double>(bar.ns);
      least = std::min(least, at);
      to = std::max(to, at);
      largest_step = std::max(largest_step, std::abs(static_cast<double>(bar.ns)));
    }
    if (largest_step < kWorthFromZero * to) from = std::max(0.0, least - (to - least));
  }
  [[nodiscard]] double Percent(double ns) const {
    return to > from ? std::clamp(100 * (ns - from) / (to - from), 0.0, 100.0) : 0;
  }
};

std::string RowOfChart(const std::string& label, const std::string& css, double from, double to,
                       double next, const std::string& value, int64_t exact) {
  const double left = std::min(from, to), width = std::max(std::abs(to - from), kThinnestBar);
  return fmt::format(
      "<div class=\"lane\"><span>{}</span><svg height=\"18\" aria-hidden=\"true\">"
      "<rect class=\"{}\" x=\"{:.2f}%\" y=\"3\" width=\"{:.2f}%\" height=\"12\"/>"
      "<rect class=\"edge\" x=\"{:.2f}%\" y=\"3\" width=\"1\" height=\"15\"/></svg>"
      "<b title=\"{} ns\">{}</b></div>\n",
      HtmlText(label), css, std::min(left, 100 - width), width, std::min(next, 99.9), exact,
      HtmlText(value));
}

bool HoldsTable(const Document::Block& block) {
  return std::holds_alternative<TitledTable>(block.content);
}

// The HTML of the tables. Tables of a step's parts are folded, because the waterfall already shows
// the parts that changed.
std::string TablesHtml(const Document& document, const HtmlStyle& style) {
  std::string out;
  Document before;
  for (const Document::Block& block : document.blocks) {
    const auto* titled = std::get_if<TitledTable>(&block.content);
    if (titled == nullptr || !titled->table.name.ends_with("parts")) {
      before.blocks.push_back(block);
      continue;
    }
    out += RenderHtml(before, style);
    before = {};
    TitledTable folded = *titled;
    folded.title = folded.screen_title = "";
    Document parts;
    parts.Add(std::move(folded));
    out += fmt::format("<details><summary>{}</summary>\n{}</details>\n", HtmlText(titled->title),
                       RenderHtml(parts, style));
  }
  return out + RenderHtml(before, style);
}

}  // namespace

std::string WaterfallChart(const std::string& title, const Waterfall& fall,
                           const std::function<std::string(std::string_view)>& class_of_part) {
  const std::vector<Waterfall::Bar> bars = DrawnBars(fall);
  if (bars.empty()) return "";
  const ChartAxis axis(fall, bars);
  const auto row_of_whole = [&](const std::string& label, int64_t ns) {
    const double end = axis.Percent(static_cast<double>(ns));
    return RowOfChart(label, "n0", 0, end, end, FormatDuration({ns}), ns);
  };
  std::string rows = row_of_whole("base", fall.base);
  int64_t at = fall.base;
  for (const Waterfall::Bar& bar : bars) {
    const double from = axis.Percent(static_cast<double>(at)),
                 to = axis.Percent(static_cast<double>(at += bar.ns));
    const std::string css = class_of_part(bar.name);
    rows += RowOfChart(bar.name, css.empty() ? "n0" : css, from, to, to, SignedDuration(bar.ns),
                       bar.ns);
  }
  rows += row_of_whole("new", fall.now);
  const std::string note =
      axis.from > 0 ? fmt::format("<p class=\"axis\">The axis starts at {}, not at 0.</p>",
                                  FormatDuration({std::llround(axis.from)}))
                    : "";
  return fmt::format("<figure class=\"fall\"><figcaption>{}</figcaption>\n{}{}</figure>\n",
                     HtmlText(title), rows, note);
}

std::string ChangesHtml(const RunChanges& changes, const HtmlStyle& style,
                        const std::function<size_t(std::string_view)>& color_of_category) {
  const auto class_of_part = [&](std::string_view part) {
    return ClassOfPart(part, color_of_category);
  };
  Document tables = CompareDocument(changes, {}, CompareView{});
  Document head;
  const auto first_table = std::ranges::find_if(tables.blocks, HoldsTable);
  head.blocks.assign(std::make_move_iterator(tables.blocks.begin()),
                     std::make_move_iterator(first_table));
  tables.blocks.erase(tables.blocks.begin(), first_table);
  std::string charts;
  if (changes.obstacles.empty()) {
    for (const PhaseChange& phase : changes.phases) {
      if (!phase.cannot_tell.empty()) continue;
      const Waterfall fall = WaterfallOf(phase);
      if (std::ranges::none_of(fall.bars, &Waterfall::Bar::beyond_noise)) continue;
      charts += WaterfallChart(
          fmt::format("The mean {} step from base to new, part by part", PhaseName(phase.phase)),
          fall, class_of_part);
    }
    if (changes.whole) {
      charts += WaterfallChart("The whole recording from base to new, part by part",
                               WaterfallOf(*changes.whole), class_of_part);
    }
  }
  return RenderHtml(head, style) + charts + TablesHtml(tables, style);
}

}  // namespace tacho

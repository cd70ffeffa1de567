#include "report/html/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/documents/report_parts.h"
#include "text/format_number.h"
#include "text/html.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostPoints = 600;
constexpr double kWidth = 1000, kHeight = 120;
constexpr double kLettersOnABar = 180;  // how many letters fit across the whole page
constexpr size_t kShortest = 8;         // letters
constexpr size_t kLettersInARow = 130;  // how many letters fit across a timeline's row
constexpr Phase kPhases[] = {Phase::kPrefill, Phase::kMixed, Phase::kDecode, Phase::kEmpty,
                             Phase::kOther};

std::string LegendOf(const std::vector<const Step*>& steps) {
  std::map<Phase, uint64_t> counts;
  for (const Step* step : steps) ++counts[step->label.phase];
  std::string out = "<p class=\"legend\">";
  for (const auto& [phase, count] : counts)
    out += fmt::format("<i class=\"{}\"></i>{} ", PhaseClass(phase),
                       StepsInWords(count, PhaseName(phase)));
  return out + "</p>\n";
}

// A chart with a title, `top` (its largest value) at the upper left, and `left` and `right` at the
// ends of its axis.
std::string Framed(const std::string& title, const std::string& top, const std::string& left,
                   const std::string& right, const std::string& drawing) {
  return fmt::format(
      "<figure class=\"chart\"><figcaption>{}</figcaption><span class=\"axis\">{}</span>"
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">{}</svg><span class=\"axis\">{}<b>{}</b></span></figure>\n",
      HtmlText(title), HtmlText(top), kWidth, kHeight, HtmlText(title), drawing, HtmlText(left),
      HtmlText(right));
}

DurationNs Longest(const std::vector<const Step*>& steps) {
  DurationNs longest;
  for (const Step* step : steps) longest = std::max(longest, step->when.length());
  return longest;
}

std::string RowHtml(const DrawnRow& row) {
  std::map<std::string, std::string> paths;
  std::string texts;
  for (const DrawnSpan& span : row.spans) {
    const double width = std::max(span.to - span.from, 0.0004) * kWidth;
    paths[span.css] += fmt::format("M{:.4g} 0h{:.3g}v9h-{:.3g}z", span.from * kWidth, width, width);
    const auto letters = static_cast<size_t>((span.to - span.from) * kLettersInARow);
    if (span.name.empty() || letters < std::min<size_t>(DisplayWidth(span.name), 8)) continue;
    texts += fmt::format("<text x=\"{:.2f}%\" y=\"12\" class=\"on-{}\">{}</text>",
                         100 * span.from + 0.3, span.css, HtmlText(FitText(span.name, letters)));
  }
  std::string drawing;
  for (const auto& [css, path] : paths)
    drawing += fmt::format("<path class=\"{}\" d=\"{}\"/>", css, path);
  return fmt::format(
      "<div class=\"lane\"><span>{}</span><svg height=\"16\"><svg viewBox=\"0 0 1000 9\" "
      "preserveAspectRatio=\"none\">{}</svg>{}</svg></div>\n",
      HtmlText(row.label), drawing, texts);
}

// The SVG path of a step curve. `values`: the maxima of equal parts of the time; `least` and
// `most`: the values at the bottom and the top of the chart.
std::string SeriesPath(const std::vector<int64_t>& values, double least, double most) {
  std::string path;
  const double width = kWidth / static_cast<double>(values.size());
  for (size_t i = 0, end = 0; i < values.size(); i = end) {
    while (end < values.size() && values[end] == values[i]) ++end;
    const double share = (static_cast<double>(values[i]) - least) / (most - least);
    path +=
        fmt::format("{}{:.5g} {:.4g}h{:.4g}", i == 0 ? "M" : "L", width * static_cast<double>(i),
                    kHeight * (1 - share), width * static_cast<double>(end - i));
  }
  return path;
}

}  // namespace

std::string PhaseClass(Phase phase) { return fmt::format("p{}", static_cast<int>(phase)); }
std::string IdleClass(IdleCause cause) { return fmt::format("i{}", static_cast<int>(cause)); }

std::string PartsChart(const std::string& title, const std::vector<PhaseTime::Part>& parts,
                       DurationNs total) {
  std::vector<HtmlPart> bar;
  std::string on_bar, list;
  double at = 0;
  for (const PhaseTime::Part& part : parts) {
    if (part.time.ns <= 0) continue;
    const double share = ShareOf(part.time, total);
    const std::string words = fmt::format("{} {}", part.name, FormatShare(part.time, total));
    bar.push_back({share, part.css, words});
    const auto letters = static_cast<size_t>(share * kLettersOnABar);
    const std::string fits = words.size() <= letters ? words
                             : kShortest <= letters  ? FormatShare(part.time, total)
                                                     : "";
    if (!fits.empty())
      on_bar += fmt::format("<text x=\"{:.2f}%\" y=\"19\" class=\"on-{}\">{}</text>",
                            100 * at + 0.5, part.css, HtmlText(fits));
    list +=
        fmt::format("<li><i class=\"{}\"></i>{} <b>{}</b> {}</li>", part.css, HtmlText(part.name),
                    HtmlText(FormatShare(part.time, total)), FormatDuration(part.time));
    at += share;
  }
  return fmt::format(
      "<figure class=\"parts\"><figcaption>{}</figcaption><div class=\"stack\">{}"
      "<svg class=\"words\" aria-hidden=\"true\">{}</svg></div><ul>{}</ul></figure>\n",
      HtmlText(title), HtmlStackedBar(bar), on_bar, list);
}

std::string StepSeries(const std::vector<const Step*>& steps) {
  if (steps.size() < 2) return "";
  TimeNs first = steps[0]->when.start, last = steps[0]->when.end;
  for (const Step* step : steps) {
    first = std::min(first, step->when.start);
    last = std::max(last, step->when.end);
  }
  const DurationNs longest = Longest(steps);
  if (longest.ns <= 0 || last <= first) return "";
  std::map<Phase, std::string> bars;
  const size_t points = std::min(steps.size(), kMostPoints);
  for (size_t i = 0; i < points; ++i) {
    const size_t from = i * steps.size() / points, to = (i + 1) * steps.size() / points;
    const Step* step = steps[from];
    for (size_t k = from; k < to; ++k)
      if (steps[k]->when.length() > step->when.length()) step = steps[k];
    bars[step->label.phase] += fmt::format(
        "M{:.5g} {:.0f}V{:.4g}", ShareOf(step->when.start - first, last - first) * kWidth, kHeight,
        kHeight * (1 - ShareOf(step->when.length(), longest)));
  }
  std::string drawing;
  for (const auto& [phase, path] : bars)
    drawing += fmt::format("<path class=\"needle on {}\" d=\"{}\"/>", PhaseClass(phase), path);
  return Framed("Steps in the order of time: how long each takes on the host",
                FormatDuration(longest), "0 s", FormatDuration(last - first), drawing) +
         LegendOf(steps);
}

std::string StepDistribution(const std::vector<const Step*>& steps) {
  std::string out;
  for (const Phase phase : kPhases) {
    std::vector<int64_t> times;
    for (const Step* step : steps)
      if (step->label.phase == phase) times.push_back(step->when.length().ns);
    std::ranges::sort(times);
    if (times.size() < 2 || times.back() <= 0) continue;
    std::string path;
    const size_t points = std::min<size_t>(times.size(), 200);
    for (size_t i = 0; i < points; ++i) {
      const size_t at = (i + 1) * times.size() / points - 1;
      path += fmt::format(
          "{}{:.5g} {:.4g}", i == 0 ? "M" : "L", ShareOf({times[at]}, {times.back()}) * kWidth,
          kHeight * (1 - static_cast<double>(at + 1) / static_cast<double>(times.size())));
    }
    out += Framed(fmt::format("Share of the {} that take no longer than",
                              StepsInWords(times.size(), PhaseName(phase))),
                  "100 %", "0 s", FormatDuration({times.back()}),
                  fmt::format("<path class=\"curve {}\" d=\"{}\"/>", PhaseClass(phase), path));
  }
  return out;
}

std::string MemoryChart(const DeviceMemory& memory, const std::string& of_trace, TimeNs origin) {
  const MemorySeries& series = memory.series;
  const bool grown = series.allocated.empty();
  const std::vector<int64_t>& allocated = grown ? series.grown : series.allocated;
  if (allocated.empty()) return "";
  const int64_t least = std::min<int64_t>(0, *std::ranges::min_element(allocated));
  int64_t most = *std::ranges::max_element(allocated);
  for (const int64_t reserved : series.reserved) most = std::max(most, reserved);
  if (most <= least) return "";
  std::string drawing, legend;
  const auto add = [&](const std::vector<int64_t>& values, std::string_view css,
                       std::string_view name) {
    drawing +=
        fmt::format("<path class=\"curve {}\" d=\"{}\"/>", css,
                    SeriesPath(values, static_cast<double>(least), static_cast<double>(most)));
    legend += fmt::format("<i class=\"{}\"></i>{} ", css, name);
  };
  if (!series.reserved.empty()) add(series.reserved, "s1", "reserved");
  add(allocated, "s0", grown ? "allocated since the start" : "allocated");
  const DurationNs length{series.step.ns * static_cast<int64_t>(allocated.size())};
  const DurationNs from = series.start - origin;
  return Framed(fmt::format("{}Memory of {} over time", of_trace, memory.device), FormatBytes(most),
                FormatDuration(from), FormatDuration(from + length), drawing) +
         "<p class=\"legend\">" + legend + "</p>\n";
}

std::string MiniTimelineChart(const MiniTimeline& timeline, const std::string& of_trace,
                              TimeNs origin) {
  std::string rows;
  for (const DrawnRow& row : timeline.rows) rows += RowHtml(row);
  return fmt::format(
      "<figure class=\"mini\"><figcaption>{}<span>{}from {} on, {}</span></figcaption>\n{}"
      "</figure>\n",
      HtmlText(timeline.title), HtmlText(of_trace), FormatDuration(timeline.when.start - origin),
      FormatDuration(timeline.when.length()), rows);
}

}  // namespace tacho

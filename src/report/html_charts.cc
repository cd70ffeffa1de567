#include "report/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/report_parts.h"
#include "text/format_number.h"
#include "text/html.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostPoints = 600;
constexpr double kWidth = 1000, kHeight = 120;
constexpr double kLettersOnABar = 180;  // of the width of the page
constexpr size_t kShortest = 8;         // letters
constexpr size_t kLettersInARow = 130;  // of a whole row of a timeline
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

// A drawing with a title, the largest value at its upper left and what its axis ends with.
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

#include "report/html/html_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/answers/answer_parts.h"
#include "report/documents/analyze_document.h"
#include "report/documents/report_parts.h"
#include "report/documents/requests_document.h"
#include "report/html/html_changes.h"
#include "report/html/html_charts.h"
#include "report/html/html_page.h"
#include "report/html/html_sections.h"
#include "report/tables/finding_tables.h"
#include "report/tables/result_tables.h"
#include "report/words/rank_text.h"
#include "report/words/verdict.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr size_t kRows = 60, kRowsOfARank = 12, kGaps = 20, kTitleOfARank = 120, kMemoryCharts = 8;
constexpr size_t kMostBytesOfRanks = 500'000;

// A chart of all device time, split into parts that add up to it.
std::string WholeWindow(const RunTotals& totals) {
  const DeviceTotals& devices = totals.devices;
  if (devices.window.ns == 0) return "";
  std::vector<PhaseTime::Part> parts = {{"compute", "s0", devices.compute},
                                        {"exposed communication", "s1", devices.exposed_comm},
                                        {"exposed copies", "s2", devices.exposed_copy}};
  if (!devices.whole) {
    parts.push_back({kCommAndCopies, "s1", devices.busy - devices.compute});
    parts.push_back(
        {kIdleOrUnrecorded, IdleClass(IdleCause::kUnknown), devices.window - devices.busy});
  }
  for (const IdleCauseRow& row : totals.idle.causes)
    parts.push_back(
        {fmt::format("idle: {}", IdleCauseId(row.cause)), IdleClass(row.cause), row.total});
  return PartsChart(
      fmt::format(
          "Where {} of device time {}", FormatDuration(devices.window),
          devices.devices > 1 ? fmt::format("over {} devices goes", devices.devices) : "goes"),
      parts, devices.window);
}

std::string PhaseBars(const std::vector<PhaseTime>& phases) {
  std::string out;
  for (const PhaseTime& phase : phases)
    out +=
        PartsChart(fmt::format("{}, from each start to the next: {} of device time",
                               StepsInWords(phase.steps, phase.phase), FormatDuration(phase.total)),
                   phase.parts, phase.total);
  return out;
}

// Says why drawings are missing for traces that were read back from results; "" if there are none.
std::string WithoutEvents(const RunAnalysis& run) {
  const auto read_back = std::ranges::count_if(
      run.traces, [](const TraceAnalysis& trace) { return !trace.results.empty(); });
  if (read_back == 0) return "";
  const std::string of = static_cast<size_t>(read_back) == run.traces.size()
                             ? ""
                             : fmt::format(" for {} of {} traces", read_back, run.traces.size());
  return fmt::format(
      "<p class=\"dim\">No timelines and no bars by phase{}: read back from results of tacho "
      "analyze, which hold no events. To have them, run tacho report on the traces "
      "themselves.</p>\n",
      of);
}

std::string AnswersHtml(const std::vector<Answer>& answers) {
  std::string out = "<div class=\"answers\">\n";
  for (const Answer& answer : answers) {
    out += fmt::format("<div id=\"answer-{}\"><h2>{}</h2>", answer.id, HtmlText(answer.question));
    if (!answer.cannot_tell.empty()) {
      out +=
          fmt::format("<p class=\"dim\">Cannot tell: {}</p></div>\n", HtmlText(answer.cannot_tell));
      continue;
    }
    if (!answer.figure.empty())
      out += fmt::format("<strong>{}</strong> <span class=\"dim\">of {}</span>",
                         HtmlText(answer.figure), HtmlText(answer.of));
    if (answer.share) out += HtmlStackedBar({{*answer.share, "n0", ""}});
    out += fmt::format("<p>{}</p></div>\n", HtmlText(answer.sentence));
  }
  return out + "</div>\n";
}

std::string StepCharts(const RunAnalysis& run) {
  std::vector<const Step*> steps;
  for (const auto& [trace, step] : StepsOfScreens(run)) steps.push_back(step);
  std::ranges::stable_sort(steps, {}, [](const Step* step) { return step->when.start; });
  const std::string series = StepSeries(steps);
  if (series.empty()) return "";
  return "<div class=\"charts\"><div>" + series + "</div><div class=\"half\">" +
         StepDistribution(steps) + "</div></div>\n";
}

std::string Timelines(const RunAnalysis& run, const Drawings& drawings) {
  std::string out;
  for (const MiniTimeline& timeline : drawings.timelines) {
    const TraceAnalysis& trace = run.traces[timeline.trace];
    const std::string name = trace.facts.identity.Name();
    const std::string of = run.traces.size() == 1 ? "" : (name.empty() ? trace.path : name) + ", ";
    out += MiniTimelineChart(timeline, of, trace.run_zero());
  }
  return out;
}

// Memory charts of the devices worth showing, at most kMemoryCharts, because each takes up to 20
// kB.
std::string MemoryCharts(const RunAnalysis& run) {
  std::string out;
  size_t drawn = 0, others = 0;
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  for (const TraceAnalysis* trace : ranks) {
    const std::string of = ranks.size() == 1 ? "" : RankLabel(run.ranks, trace->path) + ", ";
    for (const DeviceMemory& memory : trace->memory.devices) {
      if (memory.peak && !IsWorthShowing(memory, trace->memory)) continue;
      const std::string chart = MemoryChart(memory, of, trace->run_zero());
      if (chart.empty()) continue;
      if (drawn < kMemoryCharts) {
        out += chart;
        ++drawn;
      } else {
        ++others;
      }
    }
  }
  if (others > 0)
    out += fmt::format("<p>[{}]: the page of tacho view has each</p>\n",
                       FormatCounted(others, "other"));
  return out;
}

// Each rank's own screen, folded, until they take kMostBytesOfRanks.
std::string RanksInFull(const RunAnalysis& run, const HtmlStyle& page_style,
                        const ScreenOptions& options) {
  HtmlStyle style = page_style;
  style.rows = kRowsOfARank;
  style.title_width = kTitleOfARank;
  std::string out;
  size_t more = 0;
  for (const TraceAnalysis& trace : run.traces) {
    if (!IsWorker(trace)) continue;
    if (out.size() >= kMostBytesOfRanks) {
      ++more;
      continue;
    }
    const std::string name = trace.facts.identity.Name();
    out += fmt::format("<details><summary>{}: {}</summary>\n{}</details>\n",
                       HtmlText(name.empty() ? trace.path : name), HtmlText(BriefVerdict(trace)),
                       RenderHtml(TraceDocument(trace, {}, options), style));
  }
  if (more > 0)
    out +=
        fmt::format("<p>[{}]: tacho analyze --rank shows each</p>\n", FormatCounted(more, "other"));
  return out;
}

std::string Beside(const std::string& left, const std::string& right) {
  if (left.empty() || right.empty()) return left + right;
  return fmt::format("<div class=\"pair\">\n<div>{}</div>\n<div>{}</div>\n</div>\n", left, right);
}

std::string RequestsHtml(const RunAnalysis& run, const std::string& bands, const HtmlStyle& style) {
  Document beside;
  AddSlowestBesideMedian(beside, run.requests);
  return bands + RenderHtml(beside, style);
}

std::string FindingsHtml(const RunAnalysis& run, const HtmlStyle& style) {
  Document findings;
  findings.Add(TitledTable{.table = FindingsTable(run, true, "finding")});
  HtmlStyle sentences = style;
  sentences.name_width = 400;
  sentences.wraps = true;
  return RenderHtml(findings, sentences);
}

std::string CommunicationTable(const RunTotals& totals, const HtmlStyle& style) {
  KernelTable comm = totals.kernels;
  std::erase_if(comm.rows, [](const KernelRow& row) { return !row.category.starts_with("comm"); });
  if (comm.rows.empty()) return "";
  Table table = KernelsTable(comm, totals.devices, {}, "name");
  table.name = "communication";
  Document document;
  document.Add(TitledTable{.table = std::move(table),
                           .title = "Communication, with its share of the time of all"});
  return RenderHtml(document, style);
}

}  // namespace

std::string HtmlReport(const RunAnalysis& run, const HtmlReportInput& input) {
  ScreenOptions options;
  options.gaps = kGaps;
  HtmlStyle style;
  style.rows = kRows;
  style.name_width = 64;
  style.mark = MarksOf(input.color_of_category);
  style.marked = "cause";

  const bool empty = run.traces.empty();
  const TraceAnalysis* const only = empty ? nullptr : OnlyTrace(run);
  Sections sections(empty  ? OtherFiles(run)
                    : only ? TraceDocument(*only, run.ranks, options, run.requests)
                           : RunDocument(run, options));
  std::string section;
  const auto render = [&](std::string_view id) {
    return RenderHtml(sections.Take(id, section), style);
  };
  const RunTotals totals = TotalsOf(run);
  const RunVerdict verdict = empty ? RunVerdict{"no trace could be read", "", ""} : VerdictOf(run);

  PageBody body;
  const auto add = [&](std::string_view title, const auto& content) {
    section = title;
    body.Add(title, content());
  };
  body.Head(input.title, sections.Facts());
  body.html += fmt::format("<h1>{}</h1>\n", HtmlText(verdict.text));
  if (!verdict.caveat.empty())
    body.html += fmt::format("<p class=\"warn\"><b>caveat</b> {}</p>\n", HtmlText(verdict.caveat));
  body.html += render("head") + WholeWindow(totals) + AnswersHtml(Answers(run, input.changes));
  sections.Take("verdict");

  add("Findings", [&] { return FindingsHtml(run, style); });
  if (input.changes != nullptr) {
    add("What changed against " + input.against,
        [&] { return ChangesHtml(*input.changes, style, input.color_of_category); });
  }
  add("By phase and category", [&] { return PhaseBars(input.drawings.phases) + render("window"); });
  add("Steps", [&] { return StepCharts(run) + render("step_phases"); });
  add("Model", [&] { return render("layer_blocks") + render("roofline"); });
  add("Requests", [&] { return RequestsHtml(run, render("request_bands"), style); });
  add("Longest gaps",
      [&] { return only ? render("gaps") : RenderHtml(GapsOfRun(run, kGaps), style); });
  add("Timelines", [&] { return Timelines(run, input.drawings) + WithoutEvents(run); });
  add("Kernels", [&] { return render("kernels"); });
  add("Host", [&] { return Beside(render("ops"), render("launches")); });
  add("Communication and copies",
      [&] { return Beside(CommunicationTable(totals, style), render("copies")); });
  add("Memory", [&] {
    std::string content = MemoryCharts(run) + render("memory");
    for (std::string peak; !(peak = render("memory_peak")).empty();) content += peak;
    return content;
  });
  add("Ranks", [&] { return render("ranks") + render("devices"); });
  add("Load and cost of profiling", [&] { return RenderHtml(input.recording, style); });
  add("Notes", [&] { return render("notes"); });
  add("More", [&] { return RenderHtml(sections.Rest(), style); });
  if (!only) add("Each rank", [&] { return RanksInFull(run, style, options); });
  add("About this report", [&] { return AboutHtml(run, totals, input); });
  return HtmlPage("tacho: " + input.title, body.html);
}

}  // namespace tacho

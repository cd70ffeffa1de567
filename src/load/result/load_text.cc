#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "load/plan/numbered_plan.h"
#include "load/result/load_report.h"
#include "text/document.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr size_t kMostErrors = 8;

Table FiguresTable(const FinishedLoad& load) {
  Table table;
  table.name = "load";
  table.columns = {
      {.key = "what", .name = ""},
      {.key = "done", .name = "done", .unit = Unit::kCount},
      {.key = "failed",
       .name = "failed",
       .unit = Unit::kCount,
       .gives_way = load.summary.whole.failed + load.summary.whole.partial == 0},
      {.key = "requests_per_s", .name = "req/s", .unit = Unit::kNumber},
      {.key = "output_tokens_per_s", .name = "out tok/s", .unit = Unit::kNumber},
      {.key = "ttft_p50_ms", .name = "TTFT p50 ms", .unit = Unit::kNumber},
      {.key = "ttft_p99_ms", .name = "p99 ms", .unit = Unit::kNumber},
      {.key = "tpot_p50_ms", .name = "TPOT p50 ms", .unit = Unit::kNumber},
      {.key = "tpot_p99_ms", .name = "p99 ms", .unit = Unit::kNumber},
      {.key = "itl_p99_ms", .name = "ITL p99 ms", .unit = Unit::kNumber, .gives_way = true},
      {.key = "e2e_p99_ms", .name = "E2E p99 ms", .unit = Unit::kNumber, .gives_way = true},
  };
  const auto add = [&](const std::string& what, const LoadFigures& f, const Distribution& ttft,
                       const Distribution& e2e) {
    table.Add({load.summary.verdict.client_bound ? what + " *" : what, static_cast<int64_t>(f.done),
               static_cast<int64_t>(f.failed + f.partial), f.requests_per_s, f.output_tokens_per_s,
               MsCell(ttft, 50), MsCell(ttft, 99), MsCell(f.tpot, 50), MsCell(f.tpot, 99),
               MsCell(f.itl, 99), MsCell(e2e, 99)});
  };
  const LoadSummary& s = load.summary;
  add("all", s.whole, s.whole.ttft, s.whole.e2e);
  if (load.plan.options.OpenLoop()) {
    add("  from the schedule", s.whole, s.whole.intended_ttft, s.whole.intended_e2e);
  }
  if (s.steady) add("steady state", *s.steady, s.steady->ttft, s.steady->e2e);
  for (const LoadSummary::Class& one : s.classes) {
    add(one.scenario, one.figures, one.figures.ttft, one.figures.e2e);
  }
  return table;
}

std::string Ms(double ns) { return FormatDuration({static_cast<int64_t>(ns)}); }

void AddBounds(Document& document, const Distribution& all, std::string_view name) {
  const auto p99 = std::ranges::find(all.percentiles, 99, &Percentile::percent);
  if (p99 == all.percentiles.end()) return;
  document.Add(Paragraph{
      fmt::format("p99 {} {}", name, Ms(p99->value)) +
      (p99->low && p99->high
           ? fmt::format(", in 19 of 20 cases between {} and {}", Ms(*p99->low), Ms(*p99->high))
           : " (too few requests for a confidence interval)")});
}

// Remarks that limit what the figures mean.
std::vector<std::string> Caveats(const FinishedLoad& load) {
  std::vector<std::string> lines = load.remarks;
  const LoadFigures& whole = load.summary.whole;
  std::ranges::move(BenchDifferences(load.records, whole, load.metrics), std::back_inserter(lines));
  const NumberedPlan plan(load.plan);
  const auto cut = std::count_if(load.records.requests.begin(), load.records.requests.end(),
                                 [&](const RequestRecord& r) { return plan[r.index].cut; });
  if (cut > 0) {
    lines.push_back(fmt::format("{} of {} were cut to {} tokens, the model's length",
                                FormatCount(cut), FormatCounted(whole.sent, "request"),
                                FormatCount(*load.plan.options.most_total_tokens)));
  }
  if (whole.wrong_length > 0) {
    lines.push_back(fmt::format("{} did not have the planned length",
                                FormatCounted(whole.wrong_length, "output")));
  }
  if (whole.cached_tokens && whole.prompt_tokens > 0) {
    lines.push_back(fmt::format("{} % of the prompts' tokens came from the prefix cache",
                                FormatPercent(static_cast<double>(*whole.cached_tokens) /
                                              static_cast<double>(whole.prompt_tokens))));
  }
  if (whole.cancelled > 0) {
    lines.push_back(fmt::format("{} under way at the end: cancelled",
                                FormatCounted(whole.cancelled, "request")));
  }
  if (whole.lost_tokens > 0) {
    lines.push_back(fmt::format(
        "out tok/s is of requests that are done; {} tokens of others came too: {} tok/s with them",
        FormatCount(whole.lost_tokens), FormatNumber(whole.received_tokens_per_s)));
  }
  if (load.records.flush_to_ns > 0) {
    lines.push_back(fmt::format(
        "{} met the {:.1f} s in which the engines wrote their traces: the times leave these "
        "requests "
        "out, the rates leave that time out",
        FormatCounted(whole.met_flush, "request"),
        static_cast<double>(load.records.flush_to_ns - load.records.flush_from_ns) / 1e9));
  }
  if (!load.records.ended_early.empty()) {
    lines.push_back("ended early: " + load.records.ended_early);
  }
  return lines;
}

}  // namespace

Cell MsCell(const Distribution& all, double percent) {
  const auto value = all.At(percent);
  return value ? Cell(*value / 1e6) : Cell();
}

std::string LoadText(const FinishedLoad& load, const TextStyle& style) {
  const LoadSummary& s = load.summary;
  Document document;
  document.Add(TitledTable{FiguresTable(load)});
  document.Add(Gap{});
  if (s.whole.good) {
    std::string bounds;
    for (const Slo& slo : load.slos) bounds += (bounds.empty() ? "" : ", ") + slo.text;
    document.Add(Paragraph{
        fmt::format("{} of {} requests sent kept {} ({} %)", FormatCount(*s.whole.good),
                    FormatCount(s.whole.sent), bounds,
                    FormatPercent(s.whole.sent == 0 ? 0
                                                    : static_cast<double>(*s.whole.good) /
                                                          static_cast<double>(s.whole.sent)))});
  }
  AddBounds(document, s.whole.ttft, "TTFT");
  if (s.whole.queue.count > 0 && s.whole.queue.most >= 1e6)
    document.Add(
        Paragraph{fmt::format("requests waited for the limit of in-flight requests: {} on average",
                              Ms(s.whole.queue.mean))});
  const char* bound = s.verdict.client_bound ? "* the client was the limit"
                      : s.verdict.judged     ? "the client kept up"
                                             : "the client was not judged";
  document.Add(Paragraph{fmt::format("{}: {}", bound, s.verdict.why),
                         s.verdict.client_bound ? Paint::kRed : Paint::kPlain});
  for (const std::string& line : Caveats(load)) document.Add(Paragraph{line, Paint::kYellow});
  for (size_t i = 0; i < s.errors.size() && i < kMostErrors; ++i)
    document.Add(
        Paragraph{.text = fmt::format("{} x {}{}", s.errors[i].count, s.errors[i].error,
                                      s.errors[i].figures_differ ? " (figures of the first)" : ""),
                  .paint = Paint::kRed,
                  .on_one_line = true});
  if (s.errors.size() > kMostErrors)
    document.Add(Paragraph{fmt::format("and {} other errors", s.errors.size() - kMostErrors)});
  return BenchResultText(load.records, s, load.identity, load.metrics, "") + "\n" +
         RenderText(std::move(document), style);
}

}  // namespace tacho

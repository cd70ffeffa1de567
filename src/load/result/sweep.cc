#include "load/result/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parse_number.h"
#include "load/result/load_report.h"
#include "text/document.h"
#include "text/format_number.h"
#include "text/json_writer.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr double kMostLevels = 64;
constexpr uint64_t kRequestsForP99 = 100;

// The steady state's figures if there are any, else those of the whole load.
const LoadFigures& FiguresOf(const SweepLevel& level) {
  return level.summary.steady ? *level.summary.steady : level.summary.whole;
}

std::string RemarkOf(const SweepLevel& level, bool knee) {
  std::vector<std::string> words;
  if (knee) words.emplace_back("knee");
  if (!level.keeps_slos) words.emplace_back("breaks the SLO");
  const uint64_t failed = level.summary.whole.failed + level.summary.whole.partial;
  if (failed > 0) words.push_back(fmt::format("{} failed", failed));
  if (level.summary.verdict.client_bound) words.emplace_back("client-bound");
  if (!level.ended_early.empty()) words.push_back(VisibleText(level.ended_early));
  return fmt::format("{}", fmt::join(words, ", "));
}

// How many levels ran to their end and were answered: a knee needs other levels to compare with.
size_t WholeLevels(const std::vector<SweepLevel>& levels) {
  return static_cast<size_t>(
      std::count_if(levels.begin(), levels.end(), [](const SweepLevel& level) {
        return !level.broken_off && level.summary.whole.e2e.count > 0;
      }));
}

std::string WhyNoKnee(const std::vector<SweepLevel>& levels) {
  bool bound = false, broke = false, failed = false, empty = false, ended = false;
  for (const SweepLevel& level : levels) {
    const LoadFigures& all = level.summary.whole;
    bound |= level.summary.verdict.client_bound;
    broke |= !level.keeps_slos;
    failed |= all.failed + all.partial > 0;
    empty |= all.done == 0;
    ended |= level.broken_off;
  }
  if (WholeLevels(levels) == 1) return "no knee: one level alone went through, with answers";
  std::vector<const char*> reasons;
  if (bound) reasons.push_back("the client was the limit");
  if (broke) reasons.push_back("an SLO broke");
  if (failed) reasons.push_back("requests failed");
  if (empty) reasons.push_back("no request was done");
  if (ended) reasons.push_back("the load was broken off");
  return fmt::format("no knee: at each level {}", fmt::join(reasons, ", or "));
}

}  // namespace

Result<std::vector<double>> ParseLevels(std::string_view text) {
  const auto bad = [&] {
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}' are not levels such as 1,2,4..256", VisibleText(text)));
  };
  std::vector<double> levels;
  const auto add = [&](std::string_view word) {
    const auto level = ParseWhole<double>(word);
    if (!level || !(*level > 0) || (!levels.empty() && *level <= levels.back())) return false;
    levels.push_back(*level);
    return true;
  };
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t dots = part.find("..");
    if (!add(part.substr(0, dots))) return bad();
    if (dots == std::string_view::npos) continue;
    const double ratio = levels.size() > 1 ? levels.back() / levels[levels.size() - 2] : 2;
    std::vector<double> until = levels;
    if (!add(part.substr(dots + 2))) return bad();
    const double last = levels.back();
    levels = std::move(until);
    // The last level is added after this loop, even if the ratio steps over it.
    for (double next = levels.back() * ratio; next < last * 0.999; next *= ratio) {
      const double digit = std::pow(10, std::floor(std::log10(next)) - 3);
      const double level = std::round(next / digit) * digit;
      if (level <= levels.back()) return bad();
      levels.push_back(level);
      if (static_cast<double>(levels.size()) > kMostLevels) return bad();
    }
    levels.push_back(last);
  }
  return levels;
}

std::optional<size_t> KneeOf(const std::vector<SweepLevel>& levels) {
  std::optional<size_t> knee;
  if (WholeLevels(levels) < 2) return knee;
  double most = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    const LoadFigures& figures = FiguresOf(levels[i]);
    const double latency = figures.e2e.At(50).value_or(0);
    const LoadFigures& all = levels[i].summary.whole;
    const bool whole = !levels[i].broken_off && all.failed + all.partial == 0;
    if (!whole || latency <= 0 || levels[i].summary.verdict.client_bound || !levels[i].keeps_slos)
      continue;
    const double power = figures.output_tokens_per_s / latency;
    if (power <= most) continue;
    most = power;
    knee = i;
  }
  return knee;
}

std::string SweepLine(SweepOf sweep, const SweepLevel& level) {
  const LoadFigures& figures = FiguresOf(level);
  const uint64_t failed = level.summary.whole.failed + level.summary.whole.partial;
  return fmt::format(
      "{} {:g}: {} done{}, {} req/s, {} tok/s", sweep == SweepOf::kRate ? "rate" : "at once",
      level.level, FormatCount(level.summary.whole.done),
      failed > 0 ? fmt::format(", {} failed", failed) : "", FormatNumber(figures.requests_per_s),
      FormatNumber(figures.output_tokens_per_s));
}

std::string SweepText(const Sweep& sweep, bool with_slos, const std::vector<SweepLevel>& levels,
                      const TextStyle& style) {
  Table table;
  table.name = "sweep";
  const bool by_rate = sweep.of == SweepOf::kRate;
  table.columns = {
      {.key = "level",
       .name = by_rate ? "rate" : "at once",
       .unit = by_rate ? Unit::kNumber : Unit::kCount},
      {.key = "done", .name = "done", .unit = Unit::kCount, .gives_way = true},
      {.key = "requests_per_s", .name = "req/s", .unit = Unit::kNumber, .gives_way = true},
      {.key = "output_tokens_per_s", .name = "out tok/s", .unit = Unit::kNumber},
      {.key = "ttft_p50_ms", .name = "TTFT p50 ms", .unit = Unit::kNumber},
      {.key = "ttft_p99_ms", .name = "p99 ms", .unit = Unit::kNumber},
      {.key = "tpot_p50_ms", .name = "TPOT p50 ms", .unit = Unit::kNumber},
      {.key = "tpot_p99_ms", .name = "p99 ms", .unit = Unit::kNumber},
      {.key = "e2e_p50_ms", .name = "E2E p50 ms", .unit = Unit::kNumber},
  };
  if (with_slos) {
    table.columns.push_back({.key = "attained", .name = "SLO", .unit = Unit::kShare});
  }
  table.columns.push_back({.key = "remark", .name = ""});
  const auto knee = KneeOf(levels);
  for (size_t i = 0; i < levels.size(); ++i) {
    const LoadSummary& s = levels[i].summary;
    const LoadFigures& f = FiguresOf(levels[i]);
    const Cell level =
        by_rate ? Cell(levels[i].level) : Cell(static_cast<int64_t>(levels[i].level));
    std::vector<Cell> cells = {level,
                               static_cast<int64_t>(s.whole.done),
                               f.requests_per_s,
                               f.output_tokens_per_s,
                               MsCell(f.ttft, 50),
                               MsCell(f.ttft, 99),
                               MsCell(f.tpot, 50),
                               MsCell(f.tpot, 99),
                               MsCell(f.e2e, 50)};
    if (with_slos) cells.push_back(levels[i].attained ? Cell(*levels[i].attained) : Cell());
    cells.emplace_back(RemarkOf(levels[i], knee == i));
    table.Add(std::move(cells), knee == i ? Paint::kBold : Paint::kPlain);
  }
  Document document;
  document.Add(TitledTable{std::move(table)});
  document.Add(Gap{});
  if (!knee) {
    document.Add(Paragraph{sweep.levels.size() < 2 ? "one level has no knee" : WhyNoKnee(levels)});
  } else {
    document.Add(Paragraph{fmt::format(
        "the knee is at {} {}{}: the most output tokens a second over the median end-to-end time",
        by_rate ? FormatNumber(levels[*knee].level)
                : FormatCount(static_cast<int64_t>(levels[*knee].level)),
        by_rate ? "requests a second" : "requests at once",
        knee == sweep.levels.size() - 1 ? ", the last level, or beyond" : "")});
  }
  if (std::any_of(levels.begin(), levels.end(),
                  [](const SweepLevel& l) { return FiguresOf(l).ttft.count < kRequestsForP99; }))
    document.Add(Paragraph{fmt::format("a p99 of fewer than {} requests is about the worst of them",
                                       kRequestsForP99)});
  return RenderText(std::move(document), style);
}

std::string SweepJson(const Sweep& sweep, const std::vector<SweepLevel>& levels,
                      std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, version);
  json.Field("sweep", sweep.of == SweepOf::kRate ? "rate" : "concurrency");
  if (const auto knee = KneeOf(levels)) json.Field("knee", levels[*knee].level);
  json.Rows("levels", levels, [&](const SweepLevel& level) {
    const LoadSummary& s = level.summary;
    const LoadFigures& f = FiguresOf(level);
    json.Fields("level", level.level, "done", s.whole.done, "failed",
                s.whole.failed + s.whole.partial, "steady", s.steady.has_value(), "requests_per_s",
                f.requests_per_s, "output_tokens_per_s", f.output_tokens_per_s);
    const auto time = [&](const char* key, const Distribution& all, double percent) {
      if (const auto value = all.At(percent)) json.Field(key, static_cast<int64_t>(*value));
    };
    time("ttft_p50_ns", f.ttft, 50);
    time("ttft_p99_ns", f.ttft, 99);
    time("tpot_p50_ns", f.tpot, 50);
    time("tpot_p99_ns", f.tpot, 99);
    time("e2e_p50_ns", f.e2e, 50);
    time("e2e_p99_ns", f.e2e, 99);
    if (level.attained) json.Field("attained", *level.attained);
    json.Fields("client_bound", s.verdict.client_bound, "ended_early",
                UnlessEmpty(level.ended_early));
  });
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho

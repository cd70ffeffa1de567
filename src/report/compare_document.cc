#include "report/compare_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/kernel_names.h"
#include "text/format_number.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

constexpr double kDidNotMove = 0.001;  // a share: of windows without bounds

int64_t Whole(double ns) { return std::llround(ns); }

std::string Time(double ns) { return FormatDuration({Whole(ns)}); }

// "+1.2 ms".
std::string SignedTime(double ns) { return (ns < 0 ? "-" : "+") + Time(std::abs(ns)); }

// "-13.6 %".
std::string SignedPercent(double share) {
  return fmt::format("{}{:.{}f} %", share < 0 ? "-" : "+", std::abs(100 * share),
                     std::abs(share) < 0.1 ? 2 : 1);
}

// "-13.6 % ± 0.8 %"; without a base in time.
std::string DifferenceText(const Change& change) {
  const auto relative = change.relative();
  std::string text = relative ? SignedPercent(*relative) : SignedTime(change.difference());
  if (!change.half_width) return text;
  const auto half = change.relative_half_width();
  return text + " ± " +
         (half ? fmt::format("{:.{}f} %", 100 * *half, *half < 0.1 ? 2 : 1)
               : Time(*change.half_width));
}

std::string FromTo(const Change& change) {
  return fmt::format("{} -> {}", Time(change.base), Time(change.now));
}

// The part that changed most in the direction of the whole, beyond noise.
std::string MostOfIt(const PhaseChange& phase) {
  const double whole = phase.mean.difference();
  const NamedChange* most = nullptr;
  const NamedChange mix{"another mix of batches", phase.mix};
  const auto look = [&](const NamedChange& part) {
    const double difference = part.change.difference();
    if (!part.change.IsTold() || (difference < 0) != (whole < 0)) return;
    if (most == nullptr || std::abs(difference) > std::abs(most->change.difference())) most = &part;
  };
  for (const NamedChange& part : phase.parts) look(part);
  look(mix);
  if (most == nullptr) return "";
  return fmt::format(", {} of it in {}", SignedTime(most->change.difference()), most->name);
}

// What moved inside of a step whose length did not, beyond noise.
std::string MovedInside(const PhaseChange& phase) {
  std::string moved;
  size_t count = 0;
  for (const NamedChange& part : phase.parts) {
    if (!part.change.IsTold() || ++count > 2) continue;
    moved += fmt::format("{}{} {}", moved.empty() ? "" : ", ", part.name,
                         SignedTime(part.change.difference()));
  }
  return moved;
}

// "3 kernels gone, 2 new".
std::string KernelsInWords(const std::vector<KernelChange>& kernels) {
  size_t gone = 0, fresh = 0;
  for (const KernelChange& kernel : kernels) {
    gone += kernel.kind == KernelChange::Kind::kGone ? 1 : 0;
    fresh += kernel.kind == KernelChange::Kind::kNew ? 1 : 0;
  }
  std::string words;
  if (gone > 0) words = FormatCounted(gone, "kernel") + " gone";
  if (fresh > 0)
    words +=
        words.empty() ? FormatCounted(fresh, "kernel") + " new" : fmt::format(", {} new", fresh);
  return words;
}

std::string PhaseVerdict(const PhaseChange& phase) {
  const std::string name(PhaseName(phase.phase));
  if (!phase.cannot_tell.empty())
    return fmt::format("{}: cannot tell, {}", name, phase.cannot_tell);
  const std::string numbers =
      fmt::format("{} step {} ({})", name, FromTo(phase.mean), DifferenceText(phase.mean));
  if (phase.mean.IsTold()) return numbers + MostOfIt(phase);
  std::string moved = MovedInside(phase);
  if (moved.empty()) moved = KernelsInWords(phase.kernels);
  return moved.empty()
             ? fmt::format("no difference that can be told in {}", numbers)
             : fmt::format("{}: its length did not change beyond noise, but {}", numbers, moved);
}

std::string WholeVerdict(const WholeChange& whole) {
  const double moved = whole.window.relative().value_or(0);
  std::string text =
      std::abs(moved) < kDidNotMove
          ? fmt::format("the window did not move ({})", FromTo(whole.window))
          : fmt::format("window {} ({})", FromTo(whole.window), SignedPercent(moved));
  double idle = 0;
  for (const NamedChange& part : whole.parts) {
    if (part.name.starts_with("idle.")) idle += part.change.difference();
  }
  const double kernels = whole.kernels.difference();
  const auto more = [](double ns) { return ns < 0 ? "less" : "more"; };
  text += fmt::format(": {} {} kernel time", Time(std::abs(kernels)), more(kernels));
  const double busy = whole.window.difference() - idle;
  if (std::abs(busy + idle) < 0.05 * std::abs(idle) && (busy < 0) != (idle < 0))
    return text + fmt::format(", and as much {} idle time ({})", more(idle), Time(std::abs(idle)));
  return text + fmt::format(", {} {} idle time", Time(std::abs(idle)), more(idle));
}

Cell NsCell(double ns) { return Whole(ns); }
Cell HalfCell(const Change& change) {
  return change.half_width ? Cell(static_cast<int64_t>(std::ceil(*change.half_width))) : Cell();
}
Cell ShareCell(const std::optional<double>& share) { return share ? Cell(*share) : Cell(); }

// base, new, change, ± and change in percent, of `change`.
std::vector<TableColumn> ChangeColumns(size_t group) {
  return {Col{"base_ns", "base", kDuration}.UnitGroup(group),
          Col{"new_ns", "new", kDuration}.UnitGroup(group),
          Col{"difference_ns", "change", kDuration}.UnitGroup(group).Adds(),
          Col{"half_width_ns", "±", kDuration}.UnitGroup(group).GivesWay(2),
          Col{"relative", "change", kShare}};
}
void AddCells(const Change& change, std::vector<Cell>& cells) {
  for (Cell cell : {NsCell(change.base), NsCell(change.now), NsCell(change.difference()),
                    HalfCell(change), ShareCell(change.relative())})
    cells.push_back(std::move(cell));
}
// Findings stand out, what is noise stands back.
Paint PaintOf(const Change& change) {
  if (!change.half_width) return Paint::kPlain;
  return change.IsTold() ? Paint::kBold : Paint::kDim;
}

Table StepsTable(const RunChanges& changes) {
  Table table{"steps", {Col{"phase", "step", kText}, Col{"figure", "", kText}}, {}};
  for (TableColumn& column : ChangeColumns(0)) table.columns.push_back(std::move(column));
  table.columns.push_back(Col{"base_steps", "steps", kCount}.GivesWay());
  table.columns.push_back(Col{"new_steps", "new", kCount}.GivesWay());
  const auto add = [&](const PhaseChange& phase, const std::string& figure, const Change& change) {
    std::vector<Cell> cells = {std::string(PhaseName(phase.phase)), figure};
    AddCells(change, cells);
    cells.push_back(CountCell(phase.steps[0]));
    cells.push_back(CountCell(phase.steps[1]));
    table.Add(std::move(cells), PaintOf(change));
  };
  for (const PhaseChange& phase : changes.phases) {
    if (!phase.cannot_tell.empty()) continue;
    add(phase, "mean", phase.mean);
    if (phase.mix.IsTold()) add(phase, "at equal batch", phase.step);
    if (phase.p50) add(phase, "p50", *phase.p50);
    if (phase.p99) add(phase, "p99", *phase.p99);
  }
  return table;
}

// The parts, with the bar that ends in the new step.
Table WaterfallTable(const Waterfall& fall, const std::vector<NamedChange>& parts,
                     const std::string& name) {
  Table table{name, {Col{"part", "part", kText}.Stretches()}, {}};
  for (TableColumn& column : ChangeColumns(0)) table.columns.push_back(std::move(column));
  for (const Waterfall::Bar& bar : fall.bars) {
    const auto part = std::ranges::find(parts, bar.name, &NamedChange::name);
    if (part == parts.end()) continue;
    std::vector<Cell> cells = {bar.name};
    AddCells(part->change, cells);
    cells[3] = bar.ns;  // rounded so that all add up
    table.Add(std::move(cells), PaintOf(part->change));
  }
  return table;
}

Table KernelsTable(const std::vector<KernelChange>& kernels, const std::string& name,
                   const ScreenOptions& options, bool all) {
  Table table{name,
              {Col{"kind", "what", kText}, Col{"kernel", "kernel", kText}.Stretches().Distinct(),
               Col{"name", "", kText}.FileOnly(), Col{"category", "category", kText}.GivesWay(2)},
              {}};
  for (TableColumn& column : ChangeColumns(0)) table.columns.push_back(std::move(column));
  table.columns.push_back(Col{"base_calls", "calls", kNumber}.GivesWay());
  table.columns.push_back(Col{"new_calls", "new", kNumber}.GivesWay());
  std::vector<std::string_view> names;
  for (const KernelChange& kernel : kernels) names.push_back(kernel.name);
  const std::vector<std::string> shown = ShownKernelNames(names, options.style);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelChange& kernel = kernels[i];
    if (!all && kernel.kind == KernelChange::Kind::kSame) continue;
    std::vector<Cell> cells = {std::string(KernelChangeName(kernel.kind)), shown[i], kernel.name,
                               kernel.category};
    AddCells(kernel.time, cells);
    cells.emplace_back(kernel.base_calls);
    cells.emplace_back(kernel.now_calls);
    table.Add(std::move(cells));
  }
  return table;
}

Table FiguresTable(const std::vector<NamedChange>& figures, std::string name, std::string title,
                   Unit unit) {
  Table table{std::move(name),
              {Col{"figure", std::move(title), kText}.Stretches(), Col{"base", "base", unit},
               Col{"new", "new", unit}, Col{"relative", "change", kShare}},
              {}};
  for (const NamedChange& figure : figures) {
    const auto cell = [&](double value) { return unit == kDuration ? NsCell(value) : Cell(value); };
    table.Add({figure.name, cell(figure.change.base), cell(figure.change.now),
               ShareCell(figure.change.relative())});
  }
  return table;
}

void AddSides(const RunChanges& changes, Document& document) {
  const auto side = [&](const std::string& label, const SideFacts& facts) {
    std::string steps;
    document.Add(
        Labelled{label,
                 {facts.paths.empty() ? "" : facts.paths.front(),
                  facts.paths.size() > 1 ? FormatCounted(facts.paths.size() - 1, "more trace") : "",
                  facts.engine + (facts.version.empty() ? "" : " " + facts.version),
                  facts.runs > 1 ? FormatCounted(facts.runs, "run") : "",
                  facts.ranks > 1 ? FormatCounted(facts.ranks, "rank") : "", facts.gpus}});
  };
  side("base", changes.base);
  side("new", changes.now);
}

void AddPhase(const PhaseChange& phase, const ScreenOptions& options, Document& document) {
  const std::string name(PhaseName(phase.phase));
  std::vector<NamedChange> parts = phase.parts;
  parts.push_back({"batch mix", phase.mix});
  document.AddPart(
      TitledTable{.table = WaterfallTable(WaterfallOf(phase), parts, name + "_parts"),
                  .title = fmt::format("What a {} step consists of", name),
                  .screen_title = fmt::format("{} STEP", name == "decode"    ? "DECODE"
                                                         : name == "prefill" ? "PREFILL"
                                                         : name == "mixed"   ? "MIXED"
                                                                             : "OTHER"),
                  .screen_rows = options.top});
  Table kernels = KernelsTable(phase.kernels, name + "_kernels", options, false);
  if (!kernels.rows.empty()) {
    document.AddPart(TitledTable{.table = std::move(kernels),
                                 .title = fmt::format("Kernels of {} steps that changed", name),
                                 .screen_rows = options.top});
  }
  for (const RenamedKernel& pair : phase.renamed) {
    document.Add(Remark{"may be one kernel under two names",
                        fmt::format("{} -> {}: {}", ShortKernelName(pair.before),
                                    ShortKernelName(pair.after), pair.reason)});
  }
}

}  // namespace

std::string CompareVerdict(const RunChanges& changes) {
  if (!changes.obstacles.empty()) return "not comparable: " + changes.obstacles.front().text;
  if (changes.whole) return WholeVerdict(*changes.whole);
  // Told differences first, the largest share first.
  std::vector<const PhaseChange*> phases;
  for (const PhaseChange& phase : changes.phases) phases.push_back(&phase);
  std::ranges::stable_sort(phases, std::greater{}, [](const PhaseChange* phase) {
    return phase->cannot_tell.empty()
               ? (phase->mean.IsTold() ? 2.0 : 1.0) +
                     std::min(0.9, std::abs(phase->mean.relative().value_or(0)))
               : 0.0;
  });
  std::string verdict;
  for (const PhaseChange* phase : phases) {
    if (!phase->cannot_tell.empty()) continue;
    verdict += (verdict.empty() ? "" : "; ") + PhaseVerdict(*phase);
  }
  return verdict.empty() ? "nothing could be compared" : verdict;
}

std::string GateText(const GateResult& result) {
  using Outcome = GateResult::Outcome;
  const std::string_view word = result.outcome == Outcome::kPassed   ? "passed"
                                : result.outcome == Outcome::kBroken ? "failed"
                                                                     : "inconclusive";
  if (!result.change) return fmt::format("{}: {}: there is no such figure", word, result.gate);
  const Change& change = *result.change;
  if (result.counts)
    return fmt::format("{}: {}: {:.0f} {}", word, result.gate, change.now, result.metric);
  const bool is_number = result.metric == "load.throughput" || result.metric == "load.requests";
  const std::string values =
      is_number ? fmt::format("{:.5g} -> {:.5g}", change.base, change.now) : FromTo(change);
  return fmt::format("{}: {}: {} {} ({}){}", word, result.gate, result.metric, values,
                     DifferenceText(change), change.half_width ? "" : ", bounds not known");
}

Document CompareDocument(const RunChanges& changes, const std::vector<GateResult>& gates,
                         const ScreenOptions& options, bool anyway) {
  Document document;
  document.Add(Heading{Heading::Level::kName, "What changed"});
  AddSides(changes, document);
  document.Add(Gap{});
  RunChanges comparable = changes;
  if (anyway) comparable.obstacles.clear();
  document.Add(Paragraph{CompareVerdict(comparable), Paint::kBold});
  for (const Obstacle& obstacle : changes.obstacles) {
    document.Add(Remark{obstacle.id, obstacle.text, anyway ? "" : "--anyway compares all the same",
                        Paint::kYellow});
  }
  if (!changes.obstacles.empty() && !anyway) return document;
  for (const GateResult& result : gates) {
    document.Add(
        Remark{"gate", GateText(result), "",
               result.outcome == GateResult::Outcome::kPassed ? Paint::kPlain : Paint::kRed});
  }
  document.AddPart(TitledTable{.table = StepsTable(changes), .title = "Steps"});
  for (const PhaseChange& phase : changes.phases) {
    if (phase.cannot_tell.empty()) AddPhase(phase, options, document);
  }
  if (changes.whole) {
    document.AddPart(TitledTable{
        .table = WaterfallTable(WaterfallOf(*changes.whole), changes.whole->parts, "parts"),
        .title = "Whole recording, of one device",
        .screen_title = "WHOLE RECORDING"});
    document.AddPart(
        TitledTable{.table = KernelsTable(changes.whole->rows, "kernels", options, true),
                    .title = "Kernels of the whole recording",
                    .screen_rows = options.top});
  }
  document.AddPart(
      TitledTable{.table = FiguresTable(changes.load, "load", "load", kNumber), .title = "Load"});
  document.AddPart(
      TitledTable{.table = FiguresTable(changes.launches, "launches", "in a step", kNumber),
                  .title = "Launches in a step"});
  document.AddPart(TitledTable{.table = FiguresTable(changes.operators, "operators",
                                                     "self time on the host, in a step", kDuration),
                               .title = "Operators",
                               .screen_rows = std::min<size_t>(options.top, 5)});
  document.Add(Gap{});
  for (const PhaseChange& phase : changes.phases) {
    if (!phase.cannot_tell.empty())
      document.Add(
          Remark{std::string(PhaseName(phase.phase)), "cannot tell: " + phase.cannot_tell});
  }
  for (const std::string& remark : changes.remarks) document.Add(Remark{"note", remark});
  return document;
}

Table MetricsTable(const RunChanges& changes) {
  Table table{"metrics",
              {Col{"metric", "metric", kText}.Stretches(), Col{"base", "base", kNumber},
               Col{"new", "new", kNumber}, Col{"difference", "difference", kNumber},
               Col{"half_width", "±", kNumber}, Col{"relative", "change", kShare},
               Col{"verdict", "verdict", kText}},
              {}};
  for (const MetricChange& metric : MetricsOf(changes)) {
    const Change& change = metric.change;
    table.Add({metric.name, change.base, change.now, change.difference(),
               change.half_width ? Cell(*change.half_width) : Cell(), ShareCell(change.relative()),
               std::string(!change.half_width ? "no bounds"
                           : change.IsTold()  ? (change.difference() > 0 ? "more" : "less")
                                              : "same")});
  }
  return table;
}

}  // namespace tacho

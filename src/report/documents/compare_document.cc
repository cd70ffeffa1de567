#include "report/documents/compare_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "report/documents/report_parts.h"
#include "report/tables/compare_tables.h"
#include "report/words/block_words.h"
#include "report/words/compare_words.h"
#include "text/format_number.h"

namespace tacho {
namespace {

// The name of a side: "runs/before and 2 more". Uses the traces' paths if no names are known.
std::string NameOf(const SideFacts& facts) {
  const std::vector<std::string>& names = facts.names.empty() ? facts.paths : facts.names;
  if (names.empty()) return "no trace";
  if (names.size() == 1 || facts.names.empty()) return names.front();
  return fmt::format("{} and {} more", names.front(), names.size() - 1);
}

// The line that describes a side: "base runs/before · vLLM 0.32.0 · 8 traces · 8 ranks · NVIDIA
// H200".
Labelled SideLine(const std::string& label, const SideFacts& facts) {
  TraceFacts engine;
  engine.engine = facts.engine;
  engine.engine_version = facts.version;
  return {
      label,
      {NameOf(facts), EngineText(engine), facts.runs > 1 ? FormatCounted(facts.runs, "run") : "",
       facts.paths.size() > 1 ? FormatCounted(facts.paths.size(), "trace") : "",
       facts.ranks > 1 ? FormatCounted(facts.ranks, "rank") : "", facts.gpus}};
}

std::string InCapitals(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

void AddBlocks(const PhaseChange& phase, const CompareView& view, Document& document) {
  const BlocksChange& blocks = phase.blocks;
  const auto changed =
      static_cast<size_t>(std::ranges::count_if(blocks.blocks, &BlockChange::IsBeyondNoise)) +
      size_t{blocks.gap.IsBeyondNoise()};
  if (!blocks.compared() || (changed == 0 && !view.all)) return;
  const std::string name(PhaseName(phase.phase));
  TitledTable table{.table = ChangedBlocksTable(blocks, name + "_blocks"),
                    .title = fmt::format("Blocks of the model in a {} step", name),
                    .screen_title = InCapitals(name) + " BLOCKS"};
  if (!view.all) {
    table.screen_rows = std::min(changed, view.top);
    table.markdown_rows = table.screen_rows;
  }
  document.AddPart(std::move(table));
}

// Calls the sides in all tables as SideNames does.
void CallSides(const std::array<std::string, 2>& names, Document& document) {
  for (Document::Block& block : document.blocks) {
    auto* titled = std::get_if<TitledTable>(&block.content);
    if (titled == nullptr) continue;
    for (TableColumn& column : titled->table.columns) {
      for (const auto& [side, name] : {std::pair("base", &names[0]), {"new", &names[1]}}) {
        if (column.name.starts_with(side))
          column.name.replace(0, std::string_view(side).size(), *name);
      }
    }
  }
}

void AddPhase(const PhaseChange& phase, const CompareView& view, Document& document) {
  const std::string name(PhaseName(phase.phase));
  std::vector<NamedChange> parts = phase.parts;
  parts.push_back({kBatchMix, phase.mix});
  const Waterfall fall = WaterfallOf(phase);
  const auto rows = static_cast<size_t>(std::ranges::count_if(
      fall.bars, [&](const Waterfall::Bar& bar) { return StandsOut(bar, fall); }));
  const bool any = std::ranges::any_of(fall.bars, &Waterfall::Bar::beyond_noise);
  if (any || view.all) {
    TitledTable table{.table = WaterfallTable(fall, parts, name + "_parts"),
                      .title = fmt::format("What a {} step consists of", name),
                      .screen_title = InCapitals(name) + " STEP"};
    if (!view.all) {
      table.screen_rows = std::min(rows, view.top);
      table.markdown_rows = table.screen_rows;
    }
    document.AddPart(std::move(table));
  }
  document.AddPart(TitledTable{
      .table = ChangedKernelsTable(phase.kernels, name + "_kernels", view.style,
                                   view.all ? ShownKernels::kAll : ShownKernels::kChanged),
      .title = fmt::format("Kernels of a {} step", name),
      .screen_title = InCapitals(name) + " KERNELS",
      .screen_rows = view.all ? SIZE_MAX : view.top});
  const size_t shown = std::min(phase.renamed.size(), view.top);
  for (const RenamedKernel& pair : std::span(phase.renamed).first(shown)) {
    document.Add(Remark{"renamed?", fmt::format(" {} -> {}: {}", ShortKernelName(pair.before),
                                                ShortKernelName(pair.after), pair.reason)});
  }
  if (shown < phase.renamed.size())
    document.Add(Remark{
        "renamed?", fmt::format(" {} more pairs (--json has all)", phase.renamed.size() - shown)});
  AddBlocks(phase, view, document);
}

void AddWhole(const WholeChange& whole, const CompareView& view, Document& document) {
  document.AddPart(TitledTable{.table = WaterfallTable(WaterfallOf(whole), whole.parts, "parts"),
                               .title = "The whole recording, of one device",
                               .screen_title = "WHOLE RECORDING"});
  document.AddPart(TitledTable{
      .table = ChangedKernelsTable(whole.rows, "kernels", view.style, ShownKernels::kAll),
      .title = "Kernels of the whole recording",
      .screen_title = "KERNELS",
      .screen_rows = view.all ? SIZE_MAX : view.top});
  document.Add(
      Paragraph{"of one device on average; one measurement a side, so no bounds", Paint::kDim});
}

// Adds the obstacles to a comparison. Returns whether the comparison is shown in spite of them.
bool AddObstacles(const RunChanges& changes, const CompareView& view, Document& document) {
  for (const Obstacle& obstacle : changes.obstacles) {
    if (view.anyway || &obstacle != &changes.obstacles.front())
      document.Add(Remark{view.anyway ? "not comparable" : "also", ": " + obstacle.text, "",
                          Paint::kYellow});
  }
  if (changes.obstacles.empty() || view.anyway) return true;
  if (!changes.NothingCommon())
    document.AddForScreen(Remark{"--anyway compares them all the same", "", "", Paint::kDim});
  const std::string& first = changes.obstacles.front().id;
  if (first == "other-engine" || first == "other-gpu")
    document.AddForScreen(
        Remark{"--across compares what engines and GPUs have in common", "", "", Paint::kDim});
  return false;
}

// Adds why phases or blocks are not compared, and what is left out.
void AddWhatIsMissing(const RunChanges& changes, const CompareView& view, Document& document) {
  for (const PhaseChange& phase : changes.phases) {
    const std::string name(PhaseName(phase.phase));
    if (!phase.cannot_tell.empty()) {
      document.Add(Remark{name, ": cannot tell, " + phase.cannot_tell});
    } else if (!phase.blocks.cannot_tell.empty() && (changes.across || view.all)) {
      document.Add(Remark{name, ": no blocks of the model, " + phase.blocks.cannot_tell});
    }
  }
  for (const LeftOut& left_out : changes.left_out)
    document.Add(Remark{"left out", fmt::format(": {}: {}", left_out.what, left_out.why)});
}

void AddRemarks(const RunChanges& changes, Document& document) {
  for (const std::string& remark : changes.remarks) document.Add(Remark{"note", ": " + remark});
}

}  // namespace

Document CompareDocument(const RunChanges& changes, const std::vector<GateResult>& gates,
                         const CompareView& view) {
  Document document;
  const std::array<std::string, 2> names = SideNames(changes);
  const auto label = [&](size_t side, const std::string& usual) {
    return names[side] == usual ? usual : fmt::format("{} ({})", names[side], usual);
  };
  document.Add(SideLine(label(0, "base"), changes.base));
  document.Add(SideLine(label(1, "new"), changes.now));
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
    if (!phase.cannot_tell.empty()) continue;
    PhaseChange shown = phase;
    if (changes.across && phase.blocks.compared()) shown.parts = BusyAndIdle(phase.parts);
    AddPhase(shown, view, document);
  }
  if (changes.whole) AddWhole(*changes.whole, view, document);
  const auto add_figures = [&](const std::vector<NamedChange>& figures, std::string name,
                               std::string title, std::string column, Unit unit) {
    document.AddPart(
        TitledTable{.table = ChangedFiguresTable(figures, std::move(name), std::move(column), unit),
                    .title = std::move(title),
                    .screen_rows = view.all ? SIZE_MAX : view.top});
  };
  document.AddPart(
      TitledTable{.table = ChangedLoadTimesTable(changes.load), .title = "Load: latencies"});
  document.AddPart(
      TitledTable{.table = ChangedLoadNumbersTable(changes.load), .title = "Load: throughput"});
  add_figures(changes.launches, "launches", "Launches in a step (no bounds)", "launches",
              Unit::kNumber);
  if (view.all)
    add_figures(changes.operators, "operators",
                "Operators: self time on the host in a step (no bounds)", "operator",
                Unit::kDuration);
  document.Add(Gap{});
  AddWhatIsMissing(changes, view, document);
  AddRemarks(changes, document);
  CallSides(names, document);
  return document;
}

}  // namespace tacho

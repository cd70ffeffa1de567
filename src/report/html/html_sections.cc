#include "report/html/html_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/base64.h"
#include "base/words.h"
#include "report/documents/analyze_csv.h"
#include "report/documents/report_parts.h"
#include "report/html/html_charts.h"
#include "report/tables/result_tables.h"
#include "report/words/idle_words.h"
#include "report/words/rank_text.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr size_t kMostCsv = 8'000;  // most bytes of one table

std::string IdOf(const Document& part) {
  for (const Document::Block& block : part.blocks) {
    if (const auto* titled = std::get_if<TitledTable>(&block.content)) return titled->table.name;
    if (const auto* pair = std::get_if<TablePair>(&block.content)) return pair->left.table.name;
    if (const auto* heading = std::get_if<Heading>(&block.content))
      return AsciiLowered(heading->text);
    if (const auto* labelled = std::get_if<Labelled>(&block.content))
      return AsciiLowered(labelled->label);
  }
  return "";
}

std::string PhaseClassOf(std::string_view name) {
  for (const Phase phase :
       {Phase::kPrefill, Phase::kDecode, Phase::kMixed, Phase::kEmpty, Phase::kOther}) {
    if (name.starts_with(PhaseName(phase))) return PhaseClass(phase);
  }
  return "";
}

std::string IdleClassOf(std::string_view id) {
  for (int cause = 0; cause < static_cast<int>(IdleCause::kCount); ++cause) {
    if (IdleCauseId(static_cast<IdleCause>(cause)) == id)
      return IdleClass(static_cast<IdleCause>(cause));
  }
  return "";
}

// The text in the column with this key; "" without such a column.
std::string_view CellText(const Table& table, const TableRow& row, std::string_view key) {
  const auto column = std::ranges::find(table.columns, key, &TableColumn::key);
  if (column == table.columns.end()) return "";
  const auto* text =
      std::get_if<std::string>(&row.cells[static_cast<size_t>(column - table.columns.begin())]);
  return text == nullptr ? std::string_view() : *text;
}

// The heading of a CSV file and its first whole lines, at most kMostCsv bytes. `rows`: how many
// rows are in `text`; `of`: how many the file has.
struct CutCsv {
  std::string_view text;
  size_t rows = 0, of = 0;
};
CutCsv Cut(std::string_view csv) {
  CutCsv cut;
  bool quoted = false;
  size_t lines = 0, kept = 0;
  for (size_t i = 0; i < csv.size(); ++i) {
    if (csv[i] == '"') quoted = !quoted;
    if (csv[i] != '\n' || quoted) continue;
    ++lines;
    if (i + 1 > kMostCsv && lines > 1) continue;
    cut.text = csv.substr(0, i + 1);
    kept = lines;
  }
  cut.rows = kept == 0 ? 0 : kept - 1;
  cut.of = lines == 0 ? 0 : lines - 1;
  return cut;
}

std::string CsvLinks(const RunAnalysis& run) {
  std::string out;
  for (const auto& [name, content] : AnalyzeCsv(run)) {
    const CutCsv cut = Cut(content);
    if (cut.rows == 0) continue;
    out += fmt::format(
        "<li><a download=\"{0}\" href=\"data:text/csv;base64,{1}\">{0}</a> {2}</li>\n",
        HtmlText(name), Base64(cut.text),
        cut.rows == cut.of
            ? FormatCounted(cut.of, "row")
            : fmt::format("the first {} of {}", cut.rows, FormatCounted(cut.of, "row")));
  }
  return out;
}

std::string Definition(std::string_view what, std::string_view meaning) {
  return fmt::format("<li><b>{}</b> {}</li>\n", HtmlText(what), HtmlText(meaning));
}

}  // namespace

Sections::Sections(Document document) {
  Document part;
  const auto end = [&] {
    if (!part.blocks.empty())
      parts_.emplace_back(parts_.empty() && !facts_.empty() ? "head" : IdOf(part), std::move(part));
    part = {};
  };
  for (Document::Block& block : document.blocks) {
    if (std::holds_alternative<Gap>(block.content)) {
      end();
      continue;
    }
    if (const auto* subject = std::get_if<Subject>(&block.content)) {
      facts_ = subject->facts;
      if (facts_.empty()) facts_ = {subject->name};
      continue;
    }
    part.blocks.push_back(std::move(block));
  }
  end();
}

Document Sections::Take(std::string_view id, std::string_view section) {
  const auto at = std::ranges::find_if(parts_, [&](const auto& part) { return part.first == id; });
  if (at == parts_.end()) return {};
  Document taken = std::move(at->second);
  parts_.erase(at);
  for (Document::Block& block : taken.blocks) {
    if (auto* titled = std::get_if<TitledTable>(&block.content);
        titled != nullptr && titled->title == section)
      titled->title = titled->screen_title = "";
    if (auto* heading = std::get_if<Heading>(&block.content);
        heading != nullptr && heading->text == section)
      block.content = Gap{};
  }
  return taken;
}

Document Sections::Rest() {
  Document rest;
  for (auto& [id, part] : parts_) rest.Append(std::move(part));
  parts_.clear();
  return rest;
}

void PageBody::Head(const std::string& title, const std::vector<std::string>& facts) {
  std::string all;
  for (const std::string& fact : facts) {
    if (!fact.empty()) all += (all.empty() ? "" : " · ") + HtmlText(fact);
  }
  html += fmt::format("<div class=\"top\"><b>tacho</b><span>{}</span><span>{}</span></div>\n",
                      HtmlText(title), all);
}

void PageBody::Add(std::string_view title, const std::string& content) {
  if (content.empty()) return;
  html += fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", HtmlText(title), content);
}

std::string ClassOfPart(std::string_view part,
                        const std::function<size_t(std::string_view)>& color_of_category) {
  constexpr std::string_view kIdle = "idle.";
  if (part.starts_with(kIdle)) return IdleClassOf(part.substr(kIdle.size()));
  // These are the parts of a whole window.
  if (part == "compute") return "s0";
  if (part == "comm") return "s1";
  if (part == "idle") return "s3";
  if (part == kIdleOrUnrecorded) return IdleClass(IdleCause::kUnknown);
  if (part == "copies" || part == "copy") return "w9";
  if (part == "memsets" || part == "memset") return "w10";
  if (part.starts_with("counted twice") || part.starts_with("[") || part == "batch mix")
    return "n1";
  return color_of_category ? fmt::format("w{}", color_of_category(part)) : "";
}

std::function<std::string(const Table&, const TableRow&)> MarksOf(
    std::function<size_t(std::string_view)> color_of_category) {
  return [color = std::move(color_of_category)](const Table& table,
                                                const TableRow& row) -> std::string {
    if (const std::string_view cause = CellText(table, row, "cause"); !cause.empty())
      return IdleClassOf(cause);
    if (const std::string_view phase = CellText(table, row, "phase"); !phase.empty())
      return PhaseClassOf(phase);
    if (const std::string_view part = CellText(table, row, "part"); !part.empty()) {
      return ClassOfPart(part, color);
    }
    const std::string_view category = CellText(table, row, "category");
    return category.empty() || !color ? "" : fmt::format("w{}", color(category));
  };
}

Document GapsOfRun(const RunAnalysis& run, size_t most) {
  IdleTable all;
  for (const TraceAnalysis* trace : RanksOf(run)) {
    const std::string label = RankLabel(run.ranks, trace->path);
    for (IdleGap gap : LongGaps(trace->idle).gaps) {
      const DurationNs origin = trace->run_zero() - TimeNs{};
      gap.when = {gap.when.start - origin, gap.when.end - origin};
      gap.device = trace->devices.size() > 1 ? label + ", device " + gap.device : label;
      all.gaps.push_back(std::move(gap));
    }
  }
  std::ranges::stable_sort(all.gaps, [](const IdleGap& a, const IdleGap& b) {
    return a.when.length() > b.when.length();
  });
  all.gaps.resize(std::min(all.gaps.size(), most));
  Table table = GapsTable(all, {}, true, {}, "gap");
  std::ranges::find(table.columns, "device", &TableColumn::key)->name = "rank";
  Document document;
  document.AddPart(TitledTable{.table = std::move(table), .cut = true});
  return document;
}

std::string AboutHtml(const RunAnalysis& run, const RunTotals& totals,
                      const HtmlReportInput& input) {
  std::string out = fmt::format("<p>Made by tacho {}", HtmlText(input.version));
  if (!input.command.empty()) out += fmt::format(": <code>{}</code>", HtmlText(input.command));
  out += "</p>\n";
  std::set<std::string> engines;
  for (const TraceAnalysis& trace : run.traces) engines.insert(EngineText(trace.facts));
  engines.erase("");
  if (!engines.empty())
    out +=
        fmt::format("<p>Engine: {}</p>\n", HtmlText(fmt::format("{}", fmt::join(engines, ", "))));
  out += "<h3>What the words mean</h3>\n<ul>\n";
  out += Definition("window", "from the first to the last work of a device");
  out += Definition("busy", "some work runs; work that overlaps counts once");
  out += Definition("compute", "a kernel that is not communication runs, or a memset");
  out += Definition("exposed communication",
                    "communication runs and nothing computes; waits for "
                    "other ranks are part of it");
  out += Definition("exposed copies", "a copy runs, and neither compute nor communication does");
  out += Definition("idle",
                    "nothing runs. Compute, exposed communication, exposed copies and idle "
                    "add up to the window");
  for (const IdleCauseRow& row : totals.idle.causes)
    out += Definition(fmt::format("idle: {}", IdleCauseId(row.cause)),
                      MeaningOf(row.cause, totals.idle.requests));
  out += Definition("percentiles", "by nearest rank; of several ranks added up there are none");
  out += "</ul>\n";
  const std::string links = CsvLinks(run);
  if (!links.empty())
    out +=
        "<div class=\"files\">\n<h3>Raw tables, as tacho analyze --csv writes them</h3>\n<ul>\n" +
        links + "</ul>\n</div>\n";
  return out;
}

}  // namespace tacho

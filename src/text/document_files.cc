#include <fmt/format.h>

#include "base/words.h"
#include "text/document.h"
#include "text/json_writer.h"
#include "text/markdown_text.h"

namespace tacho {
namespace {

// Appends each block as Markdown, except what only a screen can show.
class MarkdownRenderer {
 public:
  explicit MarkdownRenderer(size_t rows) : rows_(rows) {}
  std::string Finish() && { return std::move(out_); }

  void operator()(const Heading& heading) {
    Begin();
    const std::string text = MarkdownText(heading.text);
    if (heading.level == Heading::Level::kPart) {
      out_ += fmt::format("**{}**\n", text);
    } else {
      out_ += fmt::format("{} {}\n", heading.level == Heading::Level::kTitle ? "##" : "###", text);
    }
  }

  void operator()(const Subject& subject) {
    if (!subject.name.empty()) (*this)(Heading{Heading::Level::kName, subject.name});
    (*this)(Labelled{subject.label, subject.facts});
  }

  void operator()(const Labelled& labelled) {
    std::vector<std::string> parts = labelled.parts;
    std::erase(parts, "");
    if (parts.empty()) return;
    Begin(true);
    const char* mark = labelled.paint == Paint::kBold ? "**" : "";
    out_ += fmt::format("- {}{}: {}{}\n", mark, MarkdownText(AsciiLowered(labelled.label)),
                        MarkdownText(fmt::format("{}", fmt::join(parts, ", "))), mark);
  }

  void operator()(const Paragraph& paragraph) {
    Begin();
    out_ += MarkdownText(paragraph.text) + "\n";
  }

  void operator()(const Remark& remark) {
    Begin(true);
    out_ += remark.name.empty() ? "- " : fmt::format("- **{}**", MarkdownText(remark.name));
    out_ += MarkdownText(remark.text) + "\n";
  }

  void operator()(const TitledTable& titled) {
    if (!titled.title.empty()) (*this)(Heading{Heading::Level::kPart, titled.title});
    Begin();
    const size_t rows = titled.markdown_rows.value_or(rows_);
    if (titled.table.rows.size() <= rows) {
      out_ += RenderMarkdown(titled.table);
    } else {
      TitledTable kept = titled;
      kept.Keep(rows);
      out_ += RenderMarkdown(kept.table);
    }
  }

  void operator()(const TablePair& pair) {
    (*this)(pair.left);
    (*this)(Paragraph{pair.total});
    if (!pair.right.table.rows.empty()) (*this)(pair.right);
  }

  void operator()(const auto& /*of_a_screen*/) {}

 private:
  // Puts a blank line before each block, but not between the items of a list.
  void Begin(bool item = false) {
    if (!out_.empty() && !(item && in_list_)) out_ += "\n";
    in_list_ = item;
  }

  size_t rows_;
  bool in_list_ = false;
  std::string out_;
};

std::vector<const Table*> TablesOf(const Document& document) {
  std::vector<const Table*> tables;
  for (const Document::Block& block : document.blocks) {
    if (const auto* one = std::get_if<TitledTable>(&block.content)) tables.push_back(&one->table);
    if (const auto* pair = std::get_if<TablePair>(&block.content))
      tables.insert(tables.end(), {&pair->left.table, &pair->right.table});
  }
  return tables;
}

std::string_view NameOf(Unit unit) {
  constexpr std::string_view kNames[] = {"text",   "count", "ns",    "bytes",   "share",
                                         "number", "bar",   "trend", "stacked", "exact"};
  return kNames[static_cast<size_t>(unit)];
}

}  // namespace

std::string RenderMarkdown(const Document& document, size_t rows) {
  MarkdownRenderer renderer(rows);
  for (const Document::Block& block : document.blocks) {
    if (!block.screen_only) std::visit(renderer, block.content);
  }
  return std::move(renderer).Finish();
}

std::vector<std::pair<std::string, std::string>> RenderCsv(const Document& document) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const Table* table : TablesOf(document))
    files.emplace_back(table->name + ".csv", RenderCsv(*table));
  return files;
}

std::string RenderJson(const Document& document) {
  JsonWriter json;
  json.BeginObject();
  json.BeginArray("tables");
  for (const Table* table : TablesOf(document)) {
    json.BeginObject();
    json.Field("name", table->name);
    json.BeginArray("columns");
    for (const TableColumn& column : table->columns) {
      if (!column.in_file) continue;
      json.Row({}, "key", column.key, "unit", NameOf(column.unit));
    }
    json.End();
    WriteRowsJson(json, "rows", *table);
    json.End();
  }
  json.End();
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho

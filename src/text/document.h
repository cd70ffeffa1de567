#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/labelled.h"
#include "text/table.h"

namespace tacho {

// A report as values, from its first block to its last. Texts hold names as they are in the traces:
// each renderer makes them safe for what it writes.

// kTitle and kSection stand for the report of a script that users know: ruled, and between dashes.
struct Heading {
  enum class Level : uint8_t { kTitle, kSection, kName, kPart };
  Level level = Level::kPart;
  std::string text;
};

// What the document is of. In Markdown the name is a heading.
struct Subject {
  std::string label, name = {};
  std::vector<std::string> facts = {};
};

struct Paragraph {
  std::string text;
  Paint paint = Paint::kPlain;
  size_t indent = 1;         // of its further lines
  bool on_one_line = false;  // its columns are aligned
};

// An item of a list. Advice is for the screen alone.
struct Remark {
  std::string name, text = {}, advice = {};
  Paint paint = Paint::kPlain;
};

struct TitledTable {
  Table table;
  // On a screen, in capitals, the heading of the first column; above the table in Markdown.
  std::string title = {};
  std::string screen_title = {};  // as it is, instead
  // The rest is summed up in one row, or not mentioned at all.
  size_t screen_rows = SIZE_MAX;
  std::optional<size_t> markdown_rows = {};  // absent: the number given to the renderer
  bool cut = false;

  void Keep(size_t rows);
};

// Beside each other where the line is wide enough; the right one is left out if it has no row.
// `total` adds up the left one.
struct TablePair {
  TitledTable left, right;
  std::string total;
};

// One value: a bar of that share. More: a timeline, marked where the value is not 0.
struct DrawnLine {
  std::string before;
  std::vector<double> values;
  std::string after;
};

// A command to copy, options that make it show more, and other commands.
struct NextCommand {
  struct Option {
    std::string option, shows;
  };
  std::string command;
  std::vector<Option> options = {};
  std::vector<Option> others = {};
};

// The main sentence once more under a long text, whole if it fits on two lines.
struct SaidAgain {
  std::string label, whole, brief;
  std::string caveat = {};  // under it
};

// A blank line on the screen.
struct Gap {};

struct Document {
  using Content = std::variant<Gap, Heading, Subject, Labelled, Paragraph, Remark, TitledTable,
                               TablePair, DrawnLine, NextCommand, SaidAgain>;
  struct Block {
    Content content;
    bool screen_only = false;
  };
  std::vector<Block> blocks;

  void Add(Content content) { blocks.push_back({std::move(content)}); }
  void AddForScreen(Content content) { blocks.push_back({std::move(content), true}); }
  // The same after a gap; nothing for a table without rows.
  void AddPart(Content content);
  void Append(Document more);
};

// At most style.width columns wide, but for titles, drawings and what stays on one line.
std::string RenderText(Document document, const TextStyle& style, const TextLayout& layout = {});

// For GitHub. `rows`: of the tables that have no number of their own.
std::string RenderMarkdown(const Document& document, size_t rows = SIZE_MAX);

// Its tables with all their rows: (name of a file, content). Their names must differ.
std::vector<std::pair<std::string, std::string>> RenderCsv(const Document& document);

// {"tables": [{"name", "columns": [{"key", "unit"}], "rows": [{key: value}]}]}; a cell without a
// value or with an empty text has no key.
std::string RenderJson(const Document& document);

}  // namespace tacho

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

// A report as a list of blocks. Texts hold names as they are in the traces: each renderer makes
// them safe for the format that it writes.

// kTitle (between rules) and kSection (between dashes) imitate the layout of slime's and vime's
// analyze_profile.py, which users know.
struct Heading {
  enum class Level : uint8_t { kTitle, kSection, kName, kPart };
  Level level = Level::kPart;
  std::string text;
};

// What the document is about. In Markdown the name is a heading.
struct Subject {
  std::string label, name = {};
  std::vector<std::string> facts = {};
};

struct Paragraph {
  std::string text;
  Paint paint = Paint::kPlain;
  size_t indent = 1;         // of the lines after the first
  bool on_one_line = false;  // not wrapped, because its columns are aligned
};

// An item of a list. Markdown leaves out the advice.
struct Remark {
  std::string name, text = {}, advice = {};
  Paint paint = Paint::kPlain;
};

struct TitledTable {
  Table table;
  // On a screen: the heading of the first column, in capitals. In Markdown: above the table.
  std::string title = {};
  std::string screen_title = {};  // used on a screen instead of `title`, not in capitals
  // At most this many rows are shown. The others are summed up in one row or, if `cut`, dropped.
  size_t screen_rows = SIZE_MAX;
  std::optional<size_t> markdown_rows = {};  // absent: the number given to the renderer
  bool cut = false;

  void Keep(size_t rows);
};

// Two tables, side by side if the line is wide enough. The right one is left out if it has no row.
// `total` is a text that adds up the left one.
struct TablePair {
  TitledTable left, right;
  std::string total;
};

// A line with a drawing. One value: a bar of that share. More values: a timeline, marked where the
// value is not 0.
struct DrawnLine {
  std::string before;
  std::vector<double> values;
  std::string after;
};

// A command to copy, options with which it shows more, and other commands.
struct NextCommand {
  struct Option {
    std::string option, shows;
  };
  std::string command;
  std::vector<Option> options = {};
  std::vector<Option> others = {};
};

// Repeats the main sentence under a long text: `whole` if it fits on two lines, else `brief`.
struct SaidAgain {
  std::string label, whole, brief;
  std::string caveat = {};  // below the sentence
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
  // Adds a gap, then `content`; adds nothing for a table without rows.
  void AddPart(Content content);
  void Append(Document more);
};

// At most style.width columns wide, except titles, drawings and text that stays on one line.
std::string RenderText(Document document, const TextStyle& style, const TextLayout& layout = {});

// Markdown for GitHub. `rows`: the limit for tables without `markdown_rows`.
std::string RenderMarkdown(const Document& document, size_t rows = SIZE_MAX);

// The tables of the document with all their rows, each as (file name, content). The names of the
// tables must differ.
std::vector<std::pair<std::string, std::string>> RenderCsv(const Document& document);

// {"tables": [{"name", "columns": [{"key", "unit"}], "rows": [{key: value}]}]}; a cell without a
// value or with an empty text has no key.
std::string RenderJson(const Document& document);

}  // namespace tacho

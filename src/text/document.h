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

// A report is a list of blocks. Texts contain names just as they are in the traces; each renderer
// makes them safe for its format.

// kTitle (between two rules) and kSection (between dashes) imitate the layout of analyze_profile.py
// in slime and vime, which users know.
struct Heading {
  enum class Level : uint8_t { kTitle, kSection, kName, kPart };
  Level level = Level::kPart;
  std::string text;
};

// Tells what the document is about. In Markdown the name is a heading.
struct Subject {
  std::string label, name = {};
  std::vector<std::string> facts = {};
};

struct Paragraph {
  std::string text;
  Paint paint = Paint::kPlain;
  size_t indent = 1;         // of all lines but the first
  bool on_one_line = false;  // not wrapped, because it has aligned columns
};

// An item of a list. Markdown leaves out `advice`.
struct Remark {
  std::string name, text = {}, advice = {};
  Paint paint = Paint::kPlain;
};

struct TitledTable {
  Table table;
  // On a screen: the heading of the first column, in capitals. In Markdown: a heading above the
  // table.
  std::string title = {};
  std::string screen_title = {};  // replaces `title` on a screen, not in capitals
  // How many rows are shown. The other rows are summed up in one row or, if `cut`, left out.
  size_t screen_rows = SIZE_MAX;
  std::optional<size_t> markdown_rows = {};  // absent: as many as the renderer was told
  bool cut = false;

  void Keep(size_t rows);
};

// Two tables, side by side if the line is wide enough. The right table is left out if it has no
// rows. `total` is a text that sums up the left table.
struct TablePair {
  TitledTable left, right;
  std::string total;
};

// A line with a drawing. If there is one value: a bar that shows it as a share. If there are
// several: a timeline with a mark where the value is not 0.
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

// Repeats the main sentence below a long text: `whole` if it fits on two lines, else `brief`.
struct SaidAgain {
  std::string label, whole, brief;
  std::string caveat = {};  // stands below the sentence
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
  // Adds a gap, then `content`. If `content` is a table without rows, adds nothing.
  void AddPart(Content content);
  void Append(Document more);
};

// Lines are at most style.width columns wide, except titles, drawings and text that stays on one
// line.
std::string RenderText(Document document, const TextStyle& style, const TextLayout& layout = {});

// Markdown for GitHub. `rows`: how many rows to show of tables without `markdown_rows`.
std::string RenderMarkdown(const Document& document, size_t rows = SIZE_MAX);

// All tables of the document with all their rows, as pairs (file name, content). Each table must
// have a different name.
std::vector<std::pair<std::string, std::string>> RenderCsv(const Document& document);

// {"tables": [{"name", "columns": [{"key", "unit"}], "rows": [{key: value}]}]}. A row has no key
// for a cell without a value or with an empty text.
std::string RenderJson(const Document& document);

}  // namespace tacho

#include "text/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/drawing.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kBetweenTables = 2;
constexpr size_t kRule = 80, kBar = 40;
constexpr std::ptrdiff_t kLinesOfTerminal = 40;

std::string Capitals(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

size_t WidestLine(const std::vector<TextLine>& lines) {
  size_t width = 0;
  for (const TextLine& line : lines) width = std::max(width, line.width);
  return width;
}

// Appends each block to a plain text.
class TextRenderer {
 public:
  TextRenderer(const TextStyle& style, const TextLayout& layout)
      : style_(style), layout_(layout), margin_(layout.margin, ' ') {}
  std::string Finish() && { return std::move(out_); }

  void operator()(const Gap& /*gap*/) { out_ += '\n'; }

  void operator()(const Heading& heading) {
    const std::string text = Visible(heading.text);
    const auto bold = [&](const std::string& line) { return Painted(line, Paint::kBold, style_); };
    if (heading.level == Heading::Level::kTitle) {
      std::string rule;
      for (size_t i = 0; i < kRule; ++i) rule += style_.unicode ? "═" : "=";
      out_ += fmt::format("{}\n{}\n{}\n", rule, bold("  " + text), rule);
    } else if (heading.level == Heading::Level::kSection) {
      const char* dashes = style_.unicode ? "──" : "--";
      out_ += bold(fmt::format("{} {} {}", dashes, text, dashes)) + "\n";
    } else {
      const bool is_name = heading.level == Heading::Level::kName;
      (*this)(Paragraph{is_name ? text : Capitals(text), Paint::kBold});
    }
  }

  void operator()(const Subject& subject) {
    if (!subject.name.empty()) (*this)(Labelled{subject.label, {subject.name}, Paint::kBold});
    (*this)(subject.name.empty() ? Labelled{subject.label, subject.facts, Paint::kBold}
                                 : Labelled{"", subject.facts});
  }

  void operator()(const Labelled& labelled) { out_ += RenderText(labelled, style_, layout_); }

  void operator()(const Paragraph& paragraph) {
    const std::string text = Visible(paragraph.text);
    const size_t width = style_.width - layout_.margin;
    AddPainted(
        margin_ +
            (paragraph.on_one_line ? text : Wrap(text, width, paragraph.indent, style_.unicode)),
        paragraph.paint);
  }

  void operator()(const Remark& remark) {
    const std::string text = Visible(remark.name + remark.text + remark.advice);
    AddPainted(Wrap(" " + text, style_.width, 3, style_.unicode), remark.paint);
  }

  void operator()(TitledTable& titled) {
    for (const TextLine& line : LinesOf(titled)) out_ += margin_.substr(1) + line.text + "\n";
  }

  void operator()(TablePair& pair) {
    const std::vector<TextLine> left = LinesOf(pair.left), right = LinesOf(pair.right);
    const size_t column = WidestLine(left) + kBetweenTables;
    const bool beside =
        !pair.right.table.rows.empty() && column + WidestLine(right) <= style_.width;
    for (size_t i = 0; i < (beside ? std::max(left.size(), right.size()) : left.size()); ++i) {
      if (i < left.size()) out_ += left[i].text;
      if (beside && i < right.size())
        out_ += std::string(column - (i < left.size() ? left[i].width : 0), ' ') + right[i].text;
      out_ += "\n";
    }
    if (!beside && !pair.right.table.rows.empty()) {
      out_ += "\n";
      for (const TextLine& line : right) out_ += line.text + "\n";
    }
    AddPainted(Wrap(" " + pair.total, style_.width, 1, style_.unicode), Paint::kDim);
  }

  void operator()(const DrawnLine& line) {
    std::string drawn;
    if (line.values.size() == 1) {
      drawn = PadRight(Bar(line.values[0], kBar, style_), kBar);
    } else {
      for (const double value : line.values) drawn += StackedMark(value != 0 ? 0 : 3, style_);
    }
    out_ += margin_ + line.before + drawn + line.after + "\n";
  }

  void operator()(const NextCommand& next) {
    size_t width = 0;
    for (const auto& [option, shows] : next.options) width = std::max(width, option.size());
    out_ += fmt::format("next:  {}\n", next.command);
    for (const auto& [option, shows] : next.options)
      out_ += fmt::format("         {}  {}\n", PadRight(option, width),
                          Painted(shows, Paint::kDim, style_));
    for (const auto& [command, shows] : next.others) {
      const bool fits = 9 + DisplayWidth(command) + shows.size() <= style_.width;
      out_ += fmt::format("       {}{}\n", command,
                          fits ? "  " + Painted(shows, Paint::kDim, style_) : "");
    }
  }

  void operator()(const SaidAgain& again) {
    if (std::ranges::count(out_, '\n') <= kLinesOfTerminal) return;
    out_ += '\n';
    (*this)(Labelled{again.label, {WholeOrBrief(again.whole, again.brief, style_)}, Paint::kBold});
    (*this)(Labelled{"caveat", {again.caveat}, Paint::kYellow});
  }

 private:
  [[nodiscard]] std::string Visible(std::string_view text) const {
    return VisibleText(text, style_.unicode);
  }

  void AddPainted(const std::string& text, Paint paint) {
    out_ += Painted(text, paint, style_) + "\n";
  }

  [[nodiscard]] std::vector<TextLine> LinesOf(TitledTable& titled) const {
    Table& table = titled.table;
    const std::string title =
        Visible(titled.screen_title.empty() ? Capitals(titled.title) : titled.screen_title);
    if (!title.empty()) std::ranges::find_if(table.columns, &TableColumn::on_screen)->name = title;
    titled.Keep(titled.screen_rows);
    TextStyle narrower = style_;
    narrower.width -= layout_.margin - 1;
    return RenderLines(table, narrower);
  }

  const TextStyle& style_;
  const TextLayout& layout_;
  std::string margin_, out_;
};

}  // namespace

void TitledTable::Keep(size_t rows) {
  if (!cut) return FoldRows(table, rows);
  table.rows.resize(std::min(table.rows.size(), rows));
}

void Document::AddPart(Content content) {
  if (const auto* titled = std::get_if<TitledTable>(&content); titled && titled->table.rows.empty())
    return;
  Add(Gap{});
  Add(std::move(content));
}

void Document::Append(Document more) { std::ranges::move(more.blocks, std::back_inserter(blocks)); }

std::string RenderText(Document document, const TextStyle& style, const TextLayout& layout) {
  TextRenderer renderer(style, layout);
  for (Document::Block& block : document.blocks) std::visit(renderer, block.content);
  return std::move(renderer).Finish();
}

}  // namespace tacho

#include "text/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "text/shown_columns.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kTrendPoints = 48;

std::string BarCell(double share, const std::string& mark) {
  return fmt::format(
      "<svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      "<rect class=\"{}\" width=\"{:.1f}\" height=\"8\"/></svg>",
      mark.empty() ? "n0" : mark, std::clamp(share, 0.0, 1.0) * 100);
}

// Draws a line of heights between 0 and the largest value. If there are more values than points, a
// point is an average of several.
std::string TrendCell(const std::vector<double>& values) {
  const size_t points = std::min(values.size(), kTrendPoints);
  const double most = *std::ranges::max_element(values);
  if (points < 2 || most <= 0) return "";
  std::string path;
  for (size_t i = 0; i < points; ++i) {
    const size_t from = i * values.size() / points, to = (i + 1) * values.size() / points;
    double sum = 0;
    for (size_t k = from; k < to; ++k) sum += values[k];
    path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L",
                        100.0 * static_cast<double>(i) / static_cast<double>(points - 1),
                        15 - 14 * sum / static_cast<double>(to - from) / most);
  }
  return fmt::format(
      "<svg viewBox=\"0 0 100 16\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      "<path class=\"line\" d=\"{}\"/></svg>",
      path);
}

std::string StackedCell(const std::vector<double>& shares) {
  std::vector<HtmlPart> parts;
  for (size_t i = 0; i < shares.size(); ++i)
    parts.push_back({shares[i], fmt::format("s{}", i), ""});
  return HtmlStackedBar(parts);
}

std::string CellHtml(const Table& table, const ShownColumn& column, size_t row,
                     const std::string& mark) {
  const Cell& cell = table.rows[row].cells[column.index];
  switch (table.columns[column.index].unit) {
    case Unit::kBar:
      if (const auto* share = std::get_if<double>(&cell)) return BarCell(*share, mark);
      return "";
    case Unit::kTrend:
      if (const auto* values = std::get_if<std::vector<double>>(&cell); values && !values->empty())
        return TrendCell(*values);
      return "";
    case Unit::kStacked:
      if (const auto* shares = std::get_if<std::vector<double>>(&cell)) return StackedCell(*shares);
      return "";
    default:
      return HtmlText(column.cells[row]);
  }
}

// A title attribute with the full name, if the name was cut.
std::string TitleOf(const Table& table, const ShownColumn& column, size_t row, size_t width) {
  const auto* text = std::get_if<std::string>(&table.rows[row].cells[column.index]);
  if (text == nullptr || !table.columns[column.index].stretches) return "";
  const std::string whole = VisibleText(*text);
  if (whole == column.cells[row]) return "";
  return fmt::format(" title=\"{}\"", HtmlText(FitText(whole, width)));
}

std::string ClassOf(const Table& table, const ShownColumn& column, bool wraps) {
  const TableColumn& of = table.columns[column.index];
  if (IsDrawing(of.unit)) return of.unit == Unit::kStacked ? "b wide" : "b";
  if (of.distinct) return "t k";
  if (of.stretches && wraps) return "t s";
  return column.left ? "t" : "";
}

std::string_view ClassOf(Paint paint) {
  switch (paint) {
    case Paint::kRed:
      return "bad";
    case Paint::kYellow:
      return "warn";
    case Paint::kDim:
      return "dim";
    case Paint::kBold:
      return "strong";
    case Paint::kPlain:
      break;
  }
  return "";
}

std::string ClassAttribute(std::string_view css) {
  return css.empty() ? "" : fmt::format(" class=\"{}\"", css);
}

// Appends each block as HTML.
class HtmlRenderer {
 public:
  explicit HtmlRenderer(const HtmlStyle& style) : style_(style) {}
  std::string Finish() && {
    EndList();
    return std::move(out_);
  }

  void operator()(const Gap& /*gap*/) { EndList(); }

  void operator()(const Heading& heading) {
    const int level = heading.level == Heading::Level::kPart   ? 3
                      : heading.level == Heading::Level::kName ? 3
                                                               : 2;
    Add(fmt::format("<h{0}>{1}</h{0}>\n", level, HtmlText(heading.text)));
  }

  void operator()(const Subject& subject) {
    if (!subject.name.empty()) Add(fmt::format("<h3>{}</h3>\n", HtmlText(subject.name)));
    (*this)(Labelled{subject.label, subject.facts});
  }

  void operator()(const Labelled& labelled) {
    std::string text;
    for (const std::string& part : labelled.parts) {
      if (!part.empty()) text += (text.empty() ? "" : " · ") + HtmlText(part);
    }
    if (text.empty()) return;
    const std::string label = AsciiLowered(labelled.label);
    Add(fmt::format("<p{}>{}{}</p>\n", ClassAttribute(ClassOf(labelled.paint)),
                    label.empty() ? "" : fmt::format("<b>{}</b> ", HtmlText(label)), text));
  }

  void operator()(const Paragraph& paragraph) {
    Add(fmt::format("<p{}>{}</p>\n", ClassAttribute(ClassOf(paragraph.paint)),
                    HtmlText(paragraph.text)));
  }

  void operator()(const Remark& remark) {
    if (!in_list_) out_ += "<ul>\n";
    in_list_ = true;
    out_ += fmt::format("<li{}>{}{}{}</li>\n", ClassAttribute(ClassOf(remark.paint)),
                        remark.name.empty() ? "" : fmt::format("<b>{}</b>", HtmlText(remark.name)),
                        HtmlText(remark.text), HtmlText(remark.advice));
  }

  void operator()(const TitledTable& titled) {
    TitledTable kept = titled;
    kept.Keep(style_.rows);
    std::string title = titled.title.empty() ? titled.screen_title : titled.title;
    Add((title.empty() ? "" : fmt::format("<h3>{}</h3>\n", HtmlText(title))) +
        RenderHtml(kept.table, style_));
  }

  void operator()(const TablePair& pair) {
    Add("<div class=\"pair\">\n<div>\n");
    (*this)(pair.left);
    out_ += "</div>\n";
    if (!pair.right.table.rows.empty()) {
      out_ += "<div>\n";
      (*this)(pair.right);
      out_ += "</div>\n";
    }
    out_ += "</div>\n";
    (*this)(Paragraph{pair.total, Paint::kDim});
  }

  void operator()(const auto& /*of_a_terminal*/) {}

 private:
  void EndList() {
    if (in_list_) out_ += "</ul>\n";
    in_list_ = false;
  }
  void Add(const std::string& html) {
    EndList();
    out_ += html;
  }

  const HtmlStyle& style_;
  bool in_list_ = false;
  std::string out_;
};

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string out;
  for (const char c : VisibleText(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string HtmlStackedBar(const std::vector<HtmlPart>& parts) {
  std::string out = "<svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\">";
  double at = 0;
  for (const HtmlPart& part : parts) {
    const double width = std::clamp(part.share, 0.0, 1.0) * 100;
    if (width <= 0) continue;
    out += fmt::format("<rect class=\"{}\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"8\">{}</rect>",
                       part.css, at, width,
                       part.title.empty() ? "" : "<title>" + HtmlText(part.title) + "</title>");
    at += width;
  }
  return out + "</svg>";
}

std::string RenderHtml(const Table& table, const HtmlStyle& style) {
  std::vector<ShownColumn> columns = ShowColumns(table, TextStyle{}, true);
  // Columns with names share the width for names.
  const auto names =
      static_cast<size_t>(std::ranges::count(columns, true, &ShownColumn::stretches));
  const size_t width = names > 2 ? style.name_width * 2 / names : style.name_width;
  for (ShownColumn& column : columns) column.width = std::min(column.width, width);
  FitCells(columns, true);
  const auto is_text = [&](const ShownColumn& column) {
    return table.columns[column.index].unit == Unit::kText;
  };
  auto with_mark = std::ranges::find_if(columns, [&](const ShownColumn& column) {
    return !style.marked.empty() && table.columns[column.index].key == style.marked;
  });
  if (with_mark == columns.end()) with_mark = std::ranges::find_if(columns, is_text);
  std::string out =
      fmt::format("<div class=\"scroll\"><table data-table=\"{}\" data-show=\"{}\">\n<thead><tr>",
                  table.name, style.shown_rows);
  for (const ShownColumn& column : columns)
    out +=
        fmt::format("<th scope=\"col\"{}>{}</th>",
                    ClassAttribute(ClassOf(table, column, style.wraps)), HtmlText(column.heading));
  out += "</tr></thead>\n<tbody>\n";
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string mark = style.mark ? style.mark(table, table.rows[row]) : "";
    out += fmt::format("<tr{}>", ClassAttribute(ClassOf(table.rows[row].paint)));
    for (const ShownColumn& column : columns) {
      const bool marked = !mark.empty() && &column == &*with_mark;
      out += fmt::format("<td{}{}>{}{}</td>", ClassAttribute(ClassOf(table, column, style.wraps)),
                         TitleOf(table, column, row, style.title_width),
                         marked ? fmt::format("<i class=\"{}\"></i>", mark) : "",
                         CellHtml(table, column, row, mark));
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  for (const ShownColumn& column : columns) {
    if (column.marks.empty()) continue;
    out += "<p class=\"legend\">";
    for (size_t i = 0; i < column.marks.size(); ++i)
      out += fmt::format("<i class=\"s{}\"></i>{} ", i, HtmlText(column.marks[i]));
    out += "</p>\n";
  }
  return out;
}

std::string RenderHtml(const Document& document, const HtmlStyle& style) {
  HtmlRenderer renderer(style);
  for (const Document::Block& block : document.blocks) {
    if (!block.screen_only) std::visit(renderer, block.content);
  }
  return std::move(renderer).Finish();
}

}  // namespace tacho

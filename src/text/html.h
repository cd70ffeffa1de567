#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "text/document.h"

namespace tacho {

// `text` for HTML, in an element or a quoted attribute: made visible (visible_text.h), and nothing
// in it becomes markup. The only place that escapes.
std::string HtmlText(std::string_view text);

struct HtmlStyle {
  // Rows of a table; the others are summed up, or left out if the table is `cut`.
  size_t rows = 40;
  size_t shown_rows = 12;  // the page's script, if any, hides the others
  size_t name_width = 56;
  bool wraps = false;        // long names are wrapped onto several lines
  size_t title_width = 400;  // of the title attribute that holds a cut name in full
  // The class of a row's mark and bar, which colours it; "" for none.
  std::function<std::string(const Table&, const TableRow&)> mark = {};
  std::string_view marked;  // the key of the column with the mark; "": the first column of text
};

// The body of a page, well-formed, without styles. Blocks for the screen alone are left out.
// Classes: kStyle in report/html/html_page.cc.
std::string RenderHtml(const Document& document, const HtmlStyle& style);
std::string RenderHtml(const Table& table, const HtmlStyle& style);

// A part of a bar that shows shares side by side.
struct HtmlPart {
  double share = 0;
  std::string css;    // class
  std::string title;  // what the part is: "idle: host-late 61.2 %"
};
std::string HtmlStackedBar(const std::vector<HtmlPart>& parts);

}  // namespace tacho

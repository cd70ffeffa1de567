#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "text/document.h"

namespace tacho {

// Makes `text` visible (visible_text.h) and escapes it for HTML, in an element or in a quoted
// attribute, so that nothing in it becomes markup. All escaping for HTML is done here.
std::string HtmlText(std::string_view text);

struct HtmlStyle {
  // How many rows of a table the page has at most. The other rows are summed up in one row; if the
  // table is `cut`, they are left out.
  size_t rows = 40;
  size_t shown_rows = 12;  // the page's script, if it has one, hides the rows after these
  size_t name_width = 56;
  bool wraps = false;        // whether long names are wrapped onto several lines
  size_t title_width = 400;  // width limit of the title attribute, which holds a name that was cut
  // Returns the CSS class that colors the mark and the bar of a row; "" if it has none.
  std::function<std::string(const Table&, const TableRow&)> mark = {};
  std::string_view marked;  // key of the column with the mark; "": the first text column
};

// The body of a page, as well-formed HTML without styles. Leaves out blocks that are only for the
// screen. The CSS classes are defined in kStyle in report/html/html_page.cc.
std::string RenderHtml(const Document& document, const HtmlStyle& style);
std::string RenderHtml(const Table& table, const HtmlStyle& style);

// One part of a bar that shows several shares next to each other.
struct HtmlPart {
  double share = 0;
  std::string css;    // CSS class
  std::string title;  // what the part stands for: "idle: host-late 61.2 %"
};
std::string HtmlStackedBar(const std::vector<HtmlPart>& parts);

}  // namespace tacho

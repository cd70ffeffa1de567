#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_style.h"

namespace tacho {

// A label and its text in parts: " trust no event lost · 1 overlap kept".
struct Labelled {
  std::string label;
  // A part is broken only if it does not fit on a line; "" is left out.
  std::vector<std::string> parts = {};
  Paint paint = Paint::kPlain;
  bool on_one_line = false;  // never wrapped, so that a user can copy it
};

// The columns of the margin and of the label; together fewer than a line has.
struct TextLayout {
  size_t margin = 1;
  size_t label_width = 8;
  Paint label_paint = Paint::kBold;
};

// Lines of at most style.width columns. Lines after the first are indented to the text of the
// first. "" if there is no part.
std::string RenderText(const Labelled& labelled, const TextStyle& style,
                       const TextLayout& layout = {});

// Renders `all` on at most `most` lines: the longest texts lose their ends first ("…"), but each
// keeps a line of its own.
std::string RenderWithin(const std::vector<Labelled>& all, size_t most, const TextStyle& style);

// `whole` if it fits on two lines, else `brief`.
std::string WholeOrBrief(std::string_view whole, std::string_view brief, const TextStyle& style);

}  // namespace tacho

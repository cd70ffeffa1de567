#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_style.h"

namespace tacho {

// A label followed by a text that consists of parts: " trust no event lost · 1 overlap kept".
struct Labelled {
  std::string label;
  // A part is only broken if it does not fit on one line. Empty parts are left out.
  std::vector<std::string> parts = {};
  Paint paint = Paint::kPlain;
  bool on_one_line = false;  // never wrapped, so that a user can copy it
};

// The widths of the margin and of the label. Together they must be narrower than a line.
struct TextLayout {
  size_t margin = 1;
  size_t label_width = 8;
  Paint label_paint = Paint::kBold;
};

// Breaks the label and its text into lines of at most style.width columns. All lines after the
// first are indented to where the text begins. "" if there are no parts.
std::string RenderText(const Labelled& labelled, const TextStyle& style,
                       const TextLayout& layout = {});

// Renders `all` on at most `most` lines. The longest texts are cut first, at their ends ("…"), but
// each keeps at least one line.
std::string RenderWithin(const std::vector<Labelled>& all, size_t most, const TextStyle& style);

// Returns `whole` if it fits on two lines, else `brief`.
std::string WholeOrBrief(std::string_view whole, std::string_view brief, const TextStyle& style);

}  // namespace tacho

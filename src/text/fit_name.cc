#include "text/fit_name.h"

#include <algorithm>
#include <vector>

#include "base/cpp_brackets.h"
#include "base/utf8.h"
#include "base/words.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Positions of the parts of a name, in bytes.
struct NameShape {
  std::vector<size_t> parts;  // beginnings of "ns" and "f<int>"; at least one
  // The arguments of the last part: position of '<', and after '>'.
  size_t open = kNone, close = kNone;

  [[nodiscard]] size_t last() const { return parts.back(); }
};

NameShape ShapeOf(std::string_view text) {
  const CppBrackets brackets(text);
  NameShape shape;
  shape.parts = {0};
  for (size_t i = 0; i < text.size();) {
    if (const size_t name = OperatorNameSize(text, i); name > 0) {
      i += name;
    } else if (brackets.Opens(i)) {
      const size_t end = brackets.End(i);
      if (end == kNone) break;
      if (text[i] == '<' && i > shape.last() && shape.open == kNone) {
        shape.open = i;
        shape.close = end;
      }
      i = end;
    } else if (text.substr(i).starts_with("::")) {
      i += 2;
      shape.parts.push_back(i);
      shape.open = shape.close = kNone;
    } else {
      ++i;
    }
  }
  return shape;
}

// As many characters from the beginning of `text` as fit into `width` columns.
std::string_view Head(std::string_view text, size_t width) {
  size_t end = 0, used = 0;
  while (end < text.size()) {
    const size_t length = DecodeUtf8(text, end).length;
    used += DisplayWidth(text.substr(end, length));
    if (used > width) break;
    end += length;
  }
  return text.substr(0, end);
}

// Whether an argument is a word. Numbers and truth values tell less than words.
bool IsWord(std::string_view argument) {
  return !argument.empty() && !IsDigit(argument[0]) && argument[0] != '-' && argument != "true" &&
         argument != "false";
}

// Joins the arguments to a list. Empty ones that follow each other become one mark.
std::string ListOf(const std::vector<std::string>& arguments, std::string_view mark) {
  std::string out = "<";
  bool in_gap = false;
  for (const std::string& argument : arguments) {
    if (argument.empty() && in_gap) continue;
    if (out.size() > 1) out += ", ";
    out += argument.empty() ? mark : argument;
    in_gap = argument.empty();
  }
  return out + '>';
}

// Fits the list into `width` columns by leaving out or shortening arguments. Words are kept before
// numbers, and the first words before later ones; words may be shortened. "" if not even "<…>"
// fits.
std::string FitArguments(std::string_view list, size_t width, bool unicode) {
  constexpr size_t kMost = 16;           // how many arguments of a list are shown
  constexpr size_t kNarrowestWord = 10;  // a word is not shortened below this width, in columns
  const std::string_view mark = ElisionMark(unicode);
  if (DisplayWidth(mark) + 2 > width) return "";
  std::vector<std::string_view> arguments = SplitArguments(list);
  if (arguments.size() > kMost) {
    arguments[kMost - 1] = arguments.back();
    arguments[kMost - 2] = "";
    arguments.resize(kMost);
  }
  std::vector<std::string> shown(arguments.size());
  for (const bool words : {true, false}) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (IsWord(arguments[i]) != words) continue;
      shown[i] = arguments[i];
      const size_t wide = DisplayWidth(ListOf(shown, mark));
      if (wide <= width) continue;
      const size_t own = DisplayWidth(shown[i]), excess = wide - width;
      const bool shorten = words && own >= excess + kNarrowestWord;
      shown[i] = shorten ? FitName(arguments[i], own - excess, unicode) : "";
    }
  }
  return ListOf(shown, mark);
}

}  // namespace

std::string FitName(std::string_view text, size_t width, bool unicode) {
  if (text.size() <= width || DisplayWidth(text) <= width) return std::string(text);
  const NameShape shape = ShapeOf(text);
  const std::string mark(ElisionMark(unicode));
  const std::string front = shape.parts.size() > 1 ? mark : "";
  const size_t front_width = DisplayWidth(front);
  if (width <= front_width) return FitText(text, width, unicode);
  size_t wide = DisplayWidth(text.substr(shape.last()));
  if (wide + front_width <= width) {  // keeps as many namespaces as fit
    size_t from = shape.last();
    for (size_t i = shape.parts.size() - 1; i-- > 0;) {
      wide += DisplayWidth(text.substr(shape.parts[i], from - shape.parts[i]));
      if (wide + front_width > width) break;
      from = shape.parts[i];
    }
    return front + std::string(text.substr(from));
  }
  if (shape.open == kNone) return FitText(text.substr(shape.last()), width, unicode);
  const std::string_view base = text.substr(shape.last(), shape.open - shape.last());
  // The mark for parameters, such as "(int)".
  const std::string behind = shape.close < text.size() ? mark : "";
  const size_t used = front_width + DisplayWidth(base) + DisplayWidth(behind);
  const std::string arguments =
      used >= width ? ""
                    : FitArguments(text.substr(shape.open + 1, shape.close - shape.open - 2),
                                   width - used, unicode);
  if (arguments.empty()) {
    const bool fits = front_width + DisplayWidth(base) + DisplayWidth(mark) <= width;
    return fits ? front + std::string(base) + mark : FitText(base, width, unicode);
  }
  return front + std::string(base) + arguments + behind;
}

std::string FitNameFrom(std::string_view text, size_t from, size_t width, bool unicode) {
  const NameShape shape = ShapeOf(text);
  const std::string mark(ElisionMark(unicode));
  std::string head;
  if (from >= shape.last() && shape.parts.size() > 1) head = mark;
  if (from > shape.open && from < shape.close) {
    const std::string_view base = text.substr(shape.last(), shape.open - shape.last());
    const size_t least = DisplayWidth(head) + DisplayWidth(mark) + 1;
    head += DisplayWidth(base) + least <= width * 3 / 5 ? std::string(base)
                                                        : FitText(base, width / 3, unicode);
    head += '<';
    if (from > shape.open + 1) head += mark;
    const size_t used = DisplayWidth(head), tail = DisplayWidth(mark) + 1;
    const std::string_view rest = text.substr(from);
    if (used + tail < width && used + DisplayWidth(rest) > width) {
      return head + std::string(Head(rest, width - used - tail)) + mark + '>';
    }
  } else if (from > shape.last()) {
    const std::string_view same = text.substr(shape.last(), from - shape.last());
    const std::string_view shown = Head(same, width / 3);
    head += shown;
    if (shown.size() < same.size()) head += mark;
  } else if (from > 0 && from < shape.last()) {
    head = mark;
  }
  const size_t used = DisplayWidth(head);
  if (used >= width) return FitText(text, width, unicode);
  return head + FitText(text.substr(from), width - used, unicode);
}

size_t TokenBegin(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && IsIdentifier(text[at - 1])) --at;
  if (at > 0 && at <= text.size() && text[at - 1] == ')') {
    const size_t open = text.rfind('(', at - 1);
    if (open != kNone) return open;
  }
  return at;
}

}  // namespace tacho

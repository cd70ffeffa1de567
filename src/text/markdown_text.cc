#include "text/markdown_text.h"

#include "text/visible_text.h"

namespace tacho {

std::string MarkdownText(std::string_view text) {
  // GitHub looks for mentions, issues and links after it has processed the Markdown. Only an extra
  // character inside them prevents that, here a zero-width space.
  constexpr std::string_view kBreak = "&#8203;";
  const std::string visible = VisibleText(text);
  std::string out;
  for (size_t i = 0; i < visible.size(); ++i) {
    const char c = visible[i];
    const std::string_view rest = std::string_view(visible).substr(i);
    switch (c) {
      case '<':  // would start a tag, which GitHub removes, and template arguments with it
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '$':
        out += "&#36;";
        break;
      case '|':
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case '~':
        out += '\\';
        out += c;
        break;
      default:
        out += c;
    }
    const bool breaks = c == '@' || c == '#' || rest.starts_with("://") ||
                        (c == 'w' && std::string_view(visible).substr(0, i + 1).ends_with("www") &&
                         rest.starts_with("w."));
    if (breaks) out += kBreak;
  }
  return out;
}

}  // namespace tacho

#pragma once

#include <string>
#include <string_view>

namespace tacho {

// `text` for GitHub Markdown, in a line or in a cell of a table: made visible (visible_text.h), and
// nothing in it becomes markup, mathematics or a link, mentions a person or refers to an issue.
std::string MarkdownText(std::string_view text);

}  // namespace tacho

#pragma once

#include <string>
#include <string_view>

namespace tacho {

// Makes `text` visible (visible_text.h) and safe for GitHub Markdown, in a line or in a table cell:
// nothing in it becomes markup, mathematics, a link, a mention of a person or a reference to an
// issue.
std::string MarkdownText(std::string_view text);

}  // namespace tacho

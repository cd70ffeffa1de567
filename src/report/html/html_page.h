#pragma once

#include <string>
#include <string_view>

namespace tacho {

// How a report begins: what is recognised when another one is to replace it.
inline constexpr std::string_view kHtmlReportBegin = "<!doctype html>\n<!-- tacho report -->\n";

// A whole page: its head with a policy that allows this style and this script and nothing else, no
// address, no network. `title` is text, `body` is HTML.
std::string HtmlPage(std::string_view title, const std::string& body);

}  // namespace tacho

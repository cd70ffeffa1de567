#pragma once

#include <string>
#include <string_view>

namespace tacho {

// How a report begins. Only a file that begins like this is replaced by a new report.
inline constexpr std::string_view kHtmlReportBegin = "<!doctype html>\n<!-- tacho report -->\n";

// A whole page. The policy in its head allows this style and this script and nothing else: no
// address, no network. `title` is text, `body` is HTML.
std::string HtmlPage(std::string_view title, const std::string& body);

}  // namespace tacho

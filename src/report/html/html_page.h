#pragma once

#include <string>
#include <string_view>

namespace tacho {

// How a report begins. Only a file that begins like this is replaced by a new report.
inline constexpr std::string_view kHtmlReportBegin = "<!doctype html>\n<!-- tacho report -->\n";

// A whole page. The content security policy in its head allows only the page's own style and
// script, and no network. `title` is text, `body` is HTML.
std::string HtmlPage(std::string_view title, const std::string& body);

}  // namespace tacho

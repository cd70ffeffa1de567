#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analysis/compare/run_changes.h"
#include "text/html.h"

namespace tacho {

// A waterfall from the mean step of the base runs to that of the new runs: one bar for each part
// that changed beyond noise (if no part did, or bounds are unknown: for each of the largest
// changes). Each bar starts where the previous one ends; all other parts share one bar.
// `class_of_part` returns the CSS class of a part's colour. "" if there is no part to show.
std::string WaterfallChart(const std::string& title, const Waterfall& fall,
                           const std::function<std::string(std::string_view)>& class_of_part);

// What changed, as a section of a report: the verdict, a waterfall for each phase, and the tables
// of tacho compare. `color_of_category` as in HtmlReportInput.
std::string ChangesHtml(const RunChanges& changes, const HtmlStyle& style,
                        const std::function<size_t(std::string_view)>& color_of_category);

}  // namespace tacho

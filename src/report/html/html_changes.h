#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analysis/compare/run_changes.h"
#include "text/html.h"

namespace tacho {

// The way from base's mean step to now's as a drawing: a bar for each part that changed beyond
// noise (of a recording without bounds: for the largest), each from where the one before it ends;
// all others are one bar. `class_of_part`: the class of its colour. "" where no part is to show.
std::string WaterfallChart(const std::string& title, const Waterfall& fall,
                           const std::function<std::string(std::string_view)>& class_of_part);

// What changed, as a section of a report: the verdict, a waterfall for each phase, and the tables
// of tacho compare. `color_of_category` as in HtmlReportInput.
std::string ChangesHtml(const RunChanges& changes, const HtmlStyle& style,
                        const std::function<size_t(std::string_view)>& color_of_category);

}  // namespace tacho

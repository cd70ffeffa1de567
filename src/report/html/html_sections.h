#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/device_totals.h"
#include "report/html/html_report.h"
#include "text/html.h"

namespace tacho {

// Splits a screen's document into parts, so that they can be put in another order. A part's id is
// the name of its first table, or its heading. The part "head" is what stands above all others.
class Sections {
 public:
  explicit Sections(Document document);

  // Removes the part and returns it, without its title if that equals `section`. Empty if there is
  // no such part, or if it was taken before.
  Document Take(std::string_view id, std::string_view section = {});
  // All parts that were not taken.
  Document Rest();
  // The facts about the trace or the run that the document begins with.
  [[nodiscard]] const std::vector<std::string>& Facts() const { return facts_; }

 private:
  std::vector<std::pair<std::string, Document>> parts_;
  std::vector<std::string> facts_;
};

// Collects the sections of a page. Empty sections are left out.
struct PageBody {
  std::string html;

  void Head(const std::string& title, const std::vector<std::string>& facts);
  void Add(std::string_view title, const std::string& content);
};

// The CSS class of the colour for a part of the time: a category, "idle.host-late", "copy", "idle".
// "" if the part has no colour.
std::string ClassOfPart(std::string_view part,
                        const std::function<size_t(std::string_view)>& color_of_category);

// Returns a function that gives the CSS class for the coloured mark of a table's row, by the row's
// category, cause of idle time or phase.
std::function<std::string(const Table&, const TableRow&)> MarksOf(
    std::function<size_t(std::string_view)> color_of_category);

// A table of the longest gaps over all ranks, at most `most`.
Document GapsOfRun(const RunAnalysis& run, size_t most);

// The last section of the page: versions, command line, definitions and raw tables.
std::string AboutHtml(const RunAnalysis& run, const RunTotals& totals,
                      const HtmlReportInput& input);

}  // namespace tacho

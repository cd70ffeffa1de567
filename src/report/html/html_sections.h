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

// The parts of a screen's document, to be put in another order. A part's id is the name of
// its first table, or its heading; "head" is what stands above the first part.
class Sections {
 public:
  explicit Sections(Document document);

  // Removes and returns the part, without a title that equals `section`; empty if there is no such
  // part, or if it was taken before.
  Document Take(std::string_view id, std::string_view section = {});
  // What was not taken.
  Document Rest();
  // What the trace or the run is.
  [[nodiscard]] const std::vector<std::string>& Facts() const { return facts_; }

 private:
  std::vector<std::pair<std::string, Document>> parts_;
  std::vector<std::string> facts_;
};

// The page as it grows. Empty sections are left out.
struct PageBody {
  std::string html;

  void Head(const std::string& title, const std::vector<std::string>& facts);
  void Add(std::string_view title, const std::string& content);
};

// The class of the colour of a part of the time: a category, "idle.host-late", "copy", "idle"; ""
// for none.
std::string ClassOfPart(std::string_view part,
                        const std::function<size_t(std::string_view)>& color_of_category);

// The class of a row's mark: by category, cause of idle time or phase.
std::function<std::string(const Table&, const TableRow&)> MarksOf(
    std::function<size_t(std::string_view)> color_of_category);

// The longest gaps of all ranks.
Document GapsOfRun(const RunAnalysis& run, size_t most);

// Versions, command line, definitions and raw tables.
std::string AboutHtml(const RunAnalysis& run, const RunTotals& totals,
                      const HtmlReportInput& input);

}  // namespace tacho

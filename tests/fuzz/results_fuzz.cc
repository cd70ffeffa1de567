// Results of `tacho analyze --json`, read back: whatever a file holds, it is refused with a reason
// or every screen can be made of it; and what is written of it reads back as the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "report/documents/analyze_document.h"
#include "report/documents/analyze_markdown.h"
#include "report/json/analyze_json.h"
#include "run/read_results.h"

namespace {

std::string Written(tacho::Results&& results) {
  tacho::RunAnalysis run;
  run.traces = std::move(results.traces);
  run.together = std::move(results.together);
  run.skipped = std::move(results.skipped);
  run.failed = std::move(results.failed);
  run.unproven = std::move(results.unproven);
  tacho::AnalyzeRun(run, results.is_collection);
  const tacho::ScreenOptions screen;
  if (tacho::AnalyzeText(run, screen).empty()) std::abort();
  if (tacho::AnalyzeMarkdown(run, screen, "1").empty()) std::abort();
  return tacho::AnalyzeJson(run, "1");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto results = tacho::ParseResults({reinterpret_cast<const char*>(data), size});
  if (!results) {
    if (results.error().message.empty()) std::abort();
    return 0;
  }
  if (results->traces.empty()) return 0;  // then no command has a screen
  const std::string once = Written(*std::move(results));
  auto again = tacho::ParseResults(once);
  if (!again || Written(*std::move(again)) != once) std::abort();
  return 0;
}

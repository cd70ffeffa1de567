#include "cli/recording_document.h"

#include <fmt/format.h>

#include "cli/overhead_text.h"
#include "cli/record_ending.h"
#include "text/format_number.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

Table WindowsTable(const KeptRecording& recording) {
  Table table{
      "load_windows",
      {Col{"window", "window", kText}, Col{"duration_ns", "duration", kDuration},
       Col{"requests_done", "requests done", kCount}, Col{"requests_failed", "failed", kCount},
       Col{"output_tokens", "output tokens", kCount}, Col{"output_tokens_per_s", "tok/s", kNumber},
       Col{"ttft_p50_ns", "TTFT p50", kDuration}.UnitGroup(1),
       Col{"ttft_p99_ns", "TTFT p99", kDuration}.UnitGroup(1),
       Col{"tpot_p50_ns", "TPOT p50", kDuration}.UnitGroup(2),
       Col{"tpot_p99_ns", "TPOT p99", kDuration}.UnitGroup(2)},
      {}};
  const auto add = [&](const char* name, const std::optional<KeptWindow>& window) {
    if (!window) return;
    const auto time = [](const std::optional<KeptTimes>& times, DurationNs KeptTimes::*which) {
      return times ? Cell(((*times).*which).ns) : Cell();
    };
    table.Add({name, window->duration.ns, window->requests_done, window->requests_failed,
               window->output_tokens,
               window->tokens_per_second ? Cell(*window->tokens_per_second) : Cell(),
               time(window->ttft, &KeptTimes::p50), time(window->ttft, &KeptTimes::p99),
               time(window->tpot, &KeptTimes::p50), time(window->tpot, &KeptTimes::p99)});
  };
  add("unprofiled", recording.baseline);
  add("profiled", recording.profiled);
  return table;
}

}  // namespace

std::string CostText(const KeptRecording& recording) {
  const auto rate = [](const std::optional<KeptWindow>& window) {
    return window ? window->tokens_per_second : std::nullopt;
  };
  const auto unprofiled = rate(recording.baseline), profiled = rate(recording.profiled);
  if (!recording.cost_share || !recording.cost_error || !unprofiled || !profiled) return "";
  return CostText(*unprofiled, *profiled, *recording.cost_share, *recording.cost_error);
}

Document RecordingDocument(const KeptRecording& recording) {
  Document document;
  document.Add(
      Labelled{"recorded by",
               {recording.command,
                recording.tacho_version.empty() ? "" : "tacho " + recording.tacho_version}});
  document.Add(
      Labelled{"proof", {fmt::format("{} of {} ranks proven", recording.proven, recording.ranks)}});
  if (const std::string cost = CostText(recording); !cost.empty())
    document.Add(Labelled{"cost", {cost}});
  if (recording.step_change)
    document.Add(Labelled{"looking", {StepChangeText(*recording.step_change)}});
  document.AddPart(TitledTable{.table = WindowsTable(recording), .title = "Load"});
  const auto add = [&](const char* name, const std::vector<std::string>& texts, Paint paint) {
    for (const std::string& text : texts) document.Add(Remark{name, ": " + text, "", paint});
  };
  add("missing", recording.missing, Paint::kRed);
  add("trouble", recording.troubles, Paint::kRed);
  add("note", recording.remarks, Paint::kPlain);
  return document;
}

}  // namespace tacho

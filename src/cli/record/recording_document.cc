#include "cli/record/recording_document.h"

#include <fmt/format.h>

#include "cli/record/record_ending.h"
#include "cli/screen/overhead_text.h"
#include "text/format_number.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

void AddWindow(const std::string& name, const KeptWindow& window, Table& table) {
  const auto time = [](const std::optional<KeptTimes>& times, DurationNs KeptTimes::*which) {
    return times ? Cell(((*times).*which).ns) : Cell();
  };
  table.Add({name, window.duration.ns, window.requests_done, window.requests_failed,
             window.output_tokens,
             window.tokens_per_second ? Cell(*window.tokens_per_second) : Cell(),
             time(window.ttft, &KeptTimes::p50), time(window.ttft, &KeptTimes::p99),
             time(window.tpot, &KeptTimes::p50), time(window.tpot, &KeptTimes::p99)});
  for (const KeptWindow& scenario : window.scenarios)
    AddWindow("  " + scenario.scenario, scenario, table);
}

}  // namespace

Table LoadWindows(const KeptRecording& recording) {
  Table table{
      "load_windows",
      {Col{"window", "window", kText}, Col{"duration_ns", "duration", kDuration}.GivesWay(2),
       Col{"requests_done", "done", kCount}, Col{"requests_failed", "failed", kCount},
       Col{"output_tokens", "out tok", kCount}.GivesWay(),
       Col{"output_tokens_per_s", "tok/s", kNumber},
       Col{"ttft_p50_ns", "TTFT p50", kDuration}.UnitGroup(1),
       Col{"ttft_p99_ns", "TTFT p99", kDuration}.UnitGroup(1),
       Col{"tpot_p50_ns", "TPOT p50", kDuration}.UnitGroup(2),
       Col{"tpot_p99_ns", "TPOT p99", kDuration}.UnitGroup(2)},
      {}};
  if (recording.baseline) AddWindow("unprofiled", *recording.baseline, table);
  if (recording.profiled) AddWindow("profiled", *recording.profiled, table);
  return table;
}

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
      Labelled{"proof", {ProvenText(recording.proven, recording.ranks, recording.incomplete)}});
  if (const std::string cost = CostText(recording); !cost.empty())
    document.Add(Labelled{"cost", {cost}});
  if (recording.step_change)
    document.Add(Labelled{"looking", {StepChangeText(*recording.step_change)}});
  document.AddPart(TitledTable{.table = LoadWindows(recording), .title = "Load"});
  const auto add = [&](const char* name, const std::vector<std::string>& texts, Paint paint) {
    for (const std::string& text : texts) document.Add(Remark{name, ": " + text, "", paint});
  };
  add("missing", recording.missing, Paint::kRed);
  add("trouble", recording.troubles, Paint::kRed);
  add("note", recording.remarks, Paint::kPlain);
  return document;
}

}  // namespace tacho

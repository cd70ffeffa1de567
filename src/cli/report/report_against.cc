#include "cli/report/report_against.h"

#include <fmt/format.h>

#include "analysis/compare/compare_runs.h"
#include "cli/screen/output.h"
#include "report/documents/compare_document.h"
#include "run/baselines.h"
#include "session/run_folder/compare_recordings.h"

namespace tacho {
namespace {

// Replaces the names of models and of a load's data, which strangers must not read.
std::vector<std::optional<KeptRun>> RedactedRecordings(std::vector<std::optional<KeptRun>> runs,
                                                       const Redactor& redactor) {
  for (std::optional<KeptRun>& run : runs) {
    if (!run) continue;
    for (std::string& model : run->recording.models) model = redactor.Hash(model);
    if (!run->load) continue;
    for (const char* text : {"dataset", "mix"}) {
      if (const auto at = run->load->find(text); at != run->load->end())
        at->second = redactor.Hash(at->second);
    }
  }
  return runs;
}

}  // namespace

Result<RunChanges> ChangesAgainst(const ReportOptions& options, const RunAnalysis& run,
                                  const Classifier& classifier, const Redactor* redactor,
                                  Incomplete& incomplete) {
  std::vector<std::string> paths =
      options.ray ? options.against : WithRunsOfBaselines(options.against);
  TACHO_ASSIGN_OR_RETURN(ReadOptions reading, ReadOptionsOf(options));
  reading.step_profile = true;
  TACHO_ASSIGN_OR_RETURN(auto base, ReadRuns(options, paths, reading, classifier, incomplete));
  const std::vector<std::string>& of_run = options.traces.paths;
  const std::vector<std::string> nowhere = {"-"};
  auto base_kept = KeptRunsOf(options.ray ? nowhere : paths);
  auto now_kept = KeptRunsOf(of_run.size() == 1 && !options.ray ? of_run : nowhere);
  if (redactor != nullptr) {
    for (RunAnalysis& one : base) one = redactor->Redacted(std::move(one));
    base_kept = RedactedRecordings(std::move(base_kept), *redactor);
    now_kept = RedactedRecordings(std::move(now_kept), *redactor);
  }
  RunChanges changes = CompareRuns(base, {run});
  CompareRecordings(base_kept, now_kept, changes);
  if (redactor == nullptr) {
    changes.base.names = options.against;
    changes.now.names = of_run;
  }
  // These sentences name paths, so they are kept off a redacted page.
  for (const std::string& repeated : incomplete.repeated)
    redactor == nullptr ? changes.remarks.push_back(repeated) : Complain(repeated);
  return changes;
}

std::string NameOfAgainst(const ReportOptions& options) {
  if (options.redact) return "the base";
  const size_t more = options.against.size() - 1;
  return options.against[0] + (more == 0 ? "" : fmt::format(" and {} more", more));
}

Document AgainstDocument(const RunChanges& changes, const std::string& against, size_t rows) {
  Document document;
  document.Add(Heading{Heading::Level::kPart, "What changed against " + against});
  CompareView view;
  view.top = rows;
  document.Append(CompareDocument(changes, {}, view));
  for (Document::Block& block : document.blocks) {
    if (auto* const titled = std::get_if<TitledTable>(&block.content)) titled->markdown_rows = rows;
  }
  return document;
}

}  // namespace tacho

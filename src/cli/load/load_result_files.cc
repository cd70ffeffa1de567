#include "cli/load/load_result_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include "cli/screen/output.h"
#include "io/read_whole.h"
#include "load/plan/plan_json.h"
#include "session/run_folder/run_folder.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostAppended = size_t{1} << 30;
constexpr std::string_view kScenario = "{scenario}";

std::string ResultPath(const LoadFlags& flags, const std::string& name) {
  return flags.result_dir.empty() ? name : flags.result_dir + "/" + name;
}

}  // namespace

std::string ResultFileName(const BenchIdentity& identity) {
  const std::string rate =
      identity.request_rate ? fmt::format("{:g}", *identity.request_rate) : "inf";
  const size_t slash = identity.model_id.rfind('/');
  return fmt::format(
      "{}-{}qps{}-{}-{}.json", identity.label.value_or(identity.backend), rate,
      identity.max_concurrency ? fmt::format("-concurrency{}", *identity.max_concurrency) : "",
      slash == std::string::npos ? identity.model_id : identity.model_id.substr(slash + 1),
      identity.date);
}

Result<void> CheckResultFiles(const LoadFlags& flags) {
  std::vector<std::string> paths;
  for (const std::string* path : {&flags.records, &flags.plan, &flags.vllm_json})
    if (!path->empty()) paths.push_back(*path);
  if (flags.save_result || flags.append_result) {
    // If no name is given, it is made from the results; any name does for this check.
    const bool named = !flags.result_filename.empty();
    paths.push_back(ResultPath(flags, named ? flags.result_filename : "result.json"));
  }
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    if (!seen.insert(path).second)
      return Fail(ErrorKind::kUsage, VisibleText(path) + " is named for two outputs");
    TACHO_RETURN_IF_ERROR(CheckWritable(path));
  }
  if (!flags.profile) return {};
  // The recording makes its folder only after the warm-up requests; a failure must come now.
  return RunFolder::Create(flags.session.out, "tacho-load").map([](const RunFolder& folder) {
    folder.RemoveEmpty();
  });
}

OptionRow RecordsRow(std::string& path) {
  return {"--records", "FILE",
          "each request with all its times, as JSON lines; {scenario} in its name: a file for each",
          &path};
}

Result<void> WriteRecords(const std::string& path, const LoadRecords& records) {
  if (path.find(kScenario) == std::string::npos)
    return WriteFile(path, RecordsAsJsonLines(records));
  std::set<std::string> scenarios;
  for (const RequestRecord& request : records.requests) scenarios.insert(request.scenario);
  for (const std::string& scenario : scenarios) {
    std::string name = path;
    for (size_t at = 0; (at = name.find(kScenario, at)) != name.npos; at += scenario.size())
      name.replace(at, kScenario.size(), scenario);
    TACHO_RETURN_IF_ERROR(WriteFile(name, RecordsAsJsonLines(records, scenario)));
  }
  return {};
}

Result<void> WriteResultFiles(const LoadFlags& flags, const FinishedLoad& load) {
  if (!flags.records.empty()) {
    TACHO_RETURN_IF_ERROR(WriteRecords(flags.records, load.records));
  }
  if (!flags.plan.empty()) {
    TACHO_RETURN_IF_ERROR(WriteFile(flags.plan, PlanJson(load.plan, load.records.requests)));
  }
  if (!flags.vllm_json.empty()) {
    BenchMetrics metrics = load.metrics;
    metrics.detailed = true;
    TACHO_RETURN_IF_ERROR(WriteFile(
        flags.vllm_json, BenchResultJson(load.records, load.summary, load.identity, metrics)));
  }
  if (!flags.save_result && !flags.append_result) return {};
  const std::string name =
      flags.result_filename.empty() ? ResultFileName(load.identity) : flags.result_filename;
  const std::string path = ResultPath(flags, name);
  BenchMetrics metrics = load.metrics;
  metrics.detailed = flags.save_detailed;
  std::string content = BenchResultJson(load.records, load.summary, load.identity, metrics);
  if (flags.append_result && access(path.c_str(), F_OK) == 0) {
    TACHO_ASSIGN_OR_RETURN(auto before, ReadWholeFile(path, kMostAppended));
    if (!before.empty() && before.back() != '\n') before += '\n';
    content = before + content;
  }
  return WriteFile(path, std::move(content));
}

}  // namespace tacho

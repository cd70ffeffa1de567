#include "cli/load_result_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/input.h"
#include "cli/output.h"
#include "load/plan_json.h"

namespace tacho {
namespace {

constexpr size_t kMostAppended = size_t{1} << 30;

Result<void> WriteFile(const std::string& path, std::string content) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty()) return Fail(ErrorKind::kUsage, path + " is a folder: give a file's name");
  const auto written = WriteFiles(folder, {{name, std::move(content)}});
  if (!written) return tl::unexpected<Error>(written.error());
  return {};
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

Result<void> WriteResultFiles(const LoadFlags& flags, const FinishedLoad& load) {
  if (!flags.records.empty()) {
    TACHO_RETURN_IF_ERROR(WriteFile(flags.records, RecordsAsJsonLines(load.records)));
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
  const std::string path = flags.result_dir.empty() ? name : flags.result_dir + "/" + name;
  BenchMetrics metrics = load.metrics;
  metrics.detailed = flags.save_detailed;
  std::string content = BenchResultJson(load.records, load.summary, load.identity, metrics);
  if (flags.append_result && access(path.c_str(), F_OK) == 0) {
    auto before = ReadInput(path, kMostAppended);
    if (!before) return tl::unexpected<Error>(before.error());
    if (!before->empty() && before->back() != '\n') *before += '\n';
    content = *before + content;
  }
  return WriteFile(path, std::move(content));
}

}  // namespace tacho

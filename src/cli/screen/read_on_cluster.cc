#include "cli/screen/read_on_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/temporary_folder.h"
#include "base/utf8.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

// What each node gets of the options. It analyses all its ranks: a node without the chosen ones has
// not failed, and results are narrowed here. So is a session that is named.
std::vector<std::string> WordsForNodes(const ReadingArguments& o, const TraceChoice& choice) {
  std::vector<std::string> words = {"--session", choice.session == "latest" ? "latest" : "all"};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (o.window) add("--window", *o.window);
  if (o.gpu) add("--gpu", *o.gpu);
  if (o.tensor_parallel) add("--tensor-parallel", std::to_string(*o.tensor_parallel));
  if (o.context_length) add("--context-length", std::to_string(*o.context_length));
  if (o.traces.keep_secrets) words.emplace_back("--keep-secrets");
  return words;
}

}  // namespace

Result<void> CheckRayOptions(const ReadingArguments& o, const std::vector<std::string>& paths) {
  if (!o.ray) {
    return o.ray_program ? Fail(ErrorKind::kUsage, "--ray-program needs --ray") : Result<void>();
  }
  const char* const other = o.rules_file        ? "--rules"
                            : o.stacks_from     ? "--stacks-from"
                            : o.model_config    ? "--model-config"
                            : !o.device.empty() ? "--device"
                                                : nullptr;
  if (other != nullptr) {
    return Fail(ErrorKind::kUsage, fmt::format("--ray and {} do not go together", other));
  }
  for (const std::string& path : paths) {
    if (!path.starts_with('/')) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--ray: the path {} is relative, and each node has its own working "
                              "folder: give the path that the nodes have, from / on",
                              VisibleText(path)));
    }
    if (std::ranges::any_of(std::filesystem::path(path),
                            [](const auto& part) { return part == "." || part == ".."; })) {
      return Fail(ErrorKind::kUsage, fmt::format("--ray: the path {} has . or .. in it: name it "
                                                 "without",
                                                 VisibleText(path)));
    }
    if (!IsUtf8(path)) {
      return Fail(ErrorKind::kUsage, fmt::format("--ray: the path {} is not UTF-8, as Ray's API "
                                                 "demands: name a folder above it",
                                                 VisibleText(path)));
    }
  }
  return {};
}

void NowLine::Say(const std::string& text) const {
  if (shown_) DrawOnStderr("\r\x1b[Kray: " + text);
}

void NowLine::Erase() const {
  if (shown_) DrawOnStderr("\r\x1b[K");
}

Result<ClusterRequest> RequestOf(const ReadingArguments& arguments, const TraceChoice& choice) {
  ClusterRequest request;
  TACHO_ASSIGN_OR_RETURN(request.access, ClusterAt(*arguments.ray, arguments.ray_program));
  request.paths = choice.paths;
  request.options = WordsForNodes(arguments, choice);
  request.threads = arguments.threads;
  return request;
}

Result<Readout<RunAnalysis>> ReadNodeResults(ReadingArguments arguments, TraceChoice choice,
                                             const ReadOptions& reading,
                                             const Classifier& classifier,
                                             const std::vector<NodeResults>& results,
                                             std::optional<std::stop_token> stop) {
  // The nodes have narrowed the traces to the window and the device.
  ReadOptions of_results;
  of_results.digests = reading.digests;
  choice.paths.clear();
  for (const NodeResults& of_node : results) {
    choice.paths.push_back(of_node.file);
    of_results.hosts[of_node.file] = of_node.node;
  }
  arguments.ray.reset();
  return ReadChosen(arguments, choice, std::move(of_results), classifier, std::move(stop));
}

void AddFailures(const std::vector<Error>& failures, Readout<RunAnalysis>& readout) {
  for (const Error& failure : failures) {
    readout.run.failed.push_back(failure.message);
    readout.run.skipped.push_back(failure.message);
    readout.failures.push_back(failure);
  }
  std::ranges::sort(readout.run.failed);
  std::ranges::sort(readout.run.skipped);
}

Result<Readout<RunAnalysis>> ReadOnCluster(const ReadingArguments& arguments,
                                           const TraceChoice& choice, const ReadOptions& reading,
                                           const Classifier& classifier) {
  TACHO_ASSIGN_OR_RETURN(ClusterRequest request, RequestOf(arguments, choice));
  TACHO_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::Make());
  const auto results = [&] {
    const InterruptScope interrupt("ending the jobs on the cluster");
    const NowLine line(ShowsProgress(arguments));
    request.say = [&](const std::string& text) { line.Say(text); };
    return AnalyzeOnNodes(request, folder.path(), interrupt.token());
  }();
  TACHO_RETURN_IF_ERROR(results);
  ComplainAll(results->remarks);
  TACHO_ASSIGN_OR_RETURN(auto readout,
                         ReadNodeResults(arguments, choice, reading, classifier, results->results));
  AddFailures(results->failures, readout);
  return readout;
}

}  // namespace tacho

#include "cli/view/view_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/disk_room.h"
#include "cli/analyze/fetch_traces.h"
#include "cli/screen/output.h"
#include "cli/screen/read_on_cluster.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr uint64_t kMostUnasked = 4'000'000'000;

// "rank 0: 5.10 GB, rank 1: 5.08 GB and 6 more".
std::string SizesOfRanks(const std::vector<TraceAnalysis>& traces) {
  constexpr size_t kMost = 4;
  std::map<std::optional<int64_t>, uint64_t> ranks;
  for (const TraceAnalysis& trace : traces)
    if (trace.first_of_file) ranks[trace.facts.rank] += trace.bytes;
  std::string text;
  size_t shown = 0;
  for (const auto& [rank, bytes] : ranks) {
    if (++shown > kMost) break;
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : ", ",
                    rank ? fmt::format("rank {}", *rank) : "without a rank", FormatBytes(bytes));
  }
  return ranks.size() > kMost ? text + fmt::format(" and {} more", ranks.size() - kMost) : text;
}

// The files of all traces; those that are not fetched become failures. Fails if they are too many
// to be fetched unasked, or for the disk.
Result<std::vector<NodeFile>> FilesForView(Readout<RunAnalysis>& of_nodes, bool chose_ranks,
                                           const std::string& folder, bool stays) {
  const std::vector<TraceAnalysis>& traces = of_nodes.run.traces;
  TACHO_ASSIGN_OR_RETURN(const FilesOfRanks found, FilesToFetch(traces, {true, {}}));
  if (found.files.empty() && !found.failures.empty())
    return tl::unexpected<Error>(found.failures.front());
  AddFailures(found.failures, of_nodes);
  const std::vector<NodeFile>& files = found.files;
  uint64_t bytes = 0;
  for (const NodeFile& file : files) bytes += file.bytes;
  const std::string size =
      fmt::format("{} of {}", FormatCounted(files.size(), "trace"), FormatBytes(bytes));
  const uint64_t to_come = BytesToCome(files, folder);
  if (!chose_ranks && to_come > kMostUnasked) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("{} would be fetched, and without --rank at most {} are: choose ranks "
                    "with --rank ({}), or fetch all with tacho analyze --fetch all --fetch-to "
                    "DIR, and then tacho view DIR",
                    to_come == bytes ? size : FormatBytes(to_come), FormatBytes(kMostUnasked),
                    SizesOfRanks(traces)));
  }
  const auto room = FreeBytes(NearestThere(folder));
  if (room && *room < to_come) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{} would be fetched into {}, whose disk has {} free: name another "
                            "folder with --fetch-to, or fewer ranks with --rank",
                            size, folder, FormatBytes(*room)));
  }
  Complain(fmt::format("fetching {} into {}{}", size, folder,
                       !stays ? ", which is removed at the end"
                       : to_come == bytes
                           ? ""
                           : fmt::format("; {} are there already", FormatBytes(bytes - to_come))));
  return files;
}

}  // namespace

Result<void> FetchForView(const ViewOptions& options, const Classifier& classifier,
                          const std::stop_token& stop, ViewPlan& plan) {
  const ReadingArguments nodes = options.OnNodes();
  TACHO_ASSIGN_OR_RETURN(ClusterRequest request, RequestOf(nodes, plan.choice));
  if (!options.fetch_to) {
    TACHO_ASSIGN_OR_RETURN(auto made, TemporaryFolder::Make());
    plan.folder.emplace(std::move(made));
  }
  TACHO_ASSIGN_OR_RETURN(const auto of_results, TemporaryFolder::Make());
  request.fetch_to = options.fetch_to ? *options.fetch_to : plan.folder->path();
  const NowLine line(ShowsProgress(nodes));
  request.say = [&](const std::string& text) { line.Say(text); };
  request.to_fetch = [&](const ClusterResults& results) -> Result<std::vector<NodeFile>> {
    line.Erase();
    TACHO_ASSIGN_OR_RETURN(
        plan.of_nodes, ReadNodeResults(nodes, plan.choice, {}, classifier, results.results, stop));
    return FilesForView(*plan.of_nodes, !plan.choice.ranks.empty(), request.fetch_to,
                        options.fetch_to.has_value());
  };
  auto results = AnalyzeOnNodes(request, of_results.path(), stop);
  line.Erase();
  TACHO_RETURN_IF_ERROR(results);
  ComplainAll(results->remarks);
  for (Error& failure : results->fetched.failures)
    results->failures.push_back(std::move(failure).WithContext("not fetched"));
  if (results->fetched.files.empty()) return tl::unexpected<Error>(results->failures.back());
  AddFailures(results->failures, *plan.of_nodes);
  plan.of_nodes->run.traces.clear();
  plan.choice.paths = std::move(results->fetched.files);
  plan.choice.session.clear();
  plan.choice.is_run = plan.of_nodes->is_collection;
  return {};
}

void AddWhatNodesLack(const Readout<RunAnalysis>& of_nodes, Readout<RunAnalysis>& readout) {
  const auto add = [](const auto& from, auto& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(of_nodes.failures, readout.failures);
  add(of_nodes.run.failed, readout.run.failed);
  add(of_nodes.run.skipped, readout.run.skipped);
  add(of_nodes.run.captures, readout.run.captures);
}

}  // namespace tacho

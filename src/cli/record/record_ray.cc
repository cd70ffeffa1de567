#include "cli/record/record_ray.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/monotonic_clock.h"
#include "base/temporary_folder.h"
#include "cli/commands.h"
#include "cli/screen/terminal.h"
#include "net/url.h"
#include "ray/analyze_on_nodes.h"
#include "ray/engine_actors.h"
#include "report/json/analyze_json.h"
#include "run/read_run.h"
#include "session/files/worker_files.h"
#include "text/format_number.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

// For clocks that are read to the second only, and for the time in transit. The proof checks the
// times in the files.
constexpr int64_t kClockSlackNs = 5'000'000'000;

bool IsHostOf(const RayNode& node, const std::string& host) {
  return host == node.name || host == node.ip || host == "[" + node.ip + "]";
}

// Whether the host may be the node. A node has names and addresses that Ray does not know, so a
// host that is not among `nodes` may be any of them.
bool MayBe(const RayNode& node, const std::string& host, const std::vector<RayNode>& nodes) {
  const auto is_it = [&](const RayNode& other) { return IsHostOf(other, host); };
  return IsHostOf(node, host) || std::ranges::none_of(nodes, is_it);
}

// The hosts of the workers, as their URLs have them.
std::vector<std::string> HostsOf(const Recording& recording) {
  std::vector<std::string> hosts;
  for (const RecordedWorker& worker : recording.workers) {
    const auto url = ParseUrl(worker.worker.url);
    hosts.push_back(url ? url->host : "");
  }
  return hosts;
}

// Whether the file is of the worker's session: by the key in its name, else by its node and time.
bool IsOf(const RecordedWorker& worker, const std::string& host, const std::vector<RayNode>& nodes,
          const RayNode& node, const FoundFile& file) {
  if (worker.expectation.start_unix_ns == 0 || !file.path.starts_with(worker.stays_in + "/") ||
      file.path.ends_with(".tmp") || !IsTraceName(file.path, worker.stays_in))
    return false;
  const std::string_view key = FileKeyOf(worker);
  if (!key.empty()) return NameHasKey(file.path, key);
  return MayBe(node, host, nodes) &&
         file.changed_ns >= worker.expectation.start_unix_ns +
                                worker.facts.clock_offset_ns.value_or(0) - kClockSlackNs;
}

// Writes the results of a node once more, with the node's name before each path. Returns them.
Result<std::vector<TraceAnalysis>> KeepResults(const NodeResults& results, const RunFolder& folder,
                                               const Classifier& classifier) {
  RunProgress silent;
  ReadOptions reading;
  reading.digests = true;
  reading.hosts[results.file] = results.node;
  TraceChoice choice;
  choice.paths = {results.file};
  TACHO_ASSIGN_OR_RETURN(auto readout, ReadRun(choice, reading, classifier, silent));
  std::string name = results.node;
  std::ranges::replace(name, '/', '_');
  TACHO_RETURN_IF_ERROR(
      folder.Write("traces/" + name + ".json", AnalyzeJson(readout.run, TachoVersion())));
  return std::move(readout.run.traces);
}

// An error begins with the node's name: "node-1 (10.0.0.1): ...".
bool IsAbout(const Error& error, const std::string& node) {
  return error.message.starts_with(node + " (") || error.message.starts_with(node + ": ");
}

// Says of the ranks whose results did not come what happened to their node.
void ExplainMissing(const std::vector<Error>& failures, Recording& recording) {
  for (RecordedWorker& worker : recording.workers) {
    const std::vector<std::string>& files = worker.expectation.files;
    const auto is_its = [&](const Error& failure) {
      return files.empty() || std::ranges::any_of(files, [&](const std::string& file) {
               return IsAbout(failure, file.substr(0, file.find(":/")));
             });
    };
    const auto failure = std::ranges::find_if(failures, is_its);
    if (failure != failures.end())
      worker.expectation.why_no_file =
          Finding{FindingId::kNotCollected, worker.worker.url, failure->message};
  }
}

// Brings traces into the run folder. What did not come becomes a finding with the command that
// brings it.
void Fetch(const RecordedCluster& cluster, const std::vector<TraceAnalysis>& traces,
           const std::vector<std::string>& places, Recording& recording, Narrator& narrator,
           const std::stop_token& stop) {
  FetchRequest request;
  request.access = cluster.access;
  request.say = [&](const std::string& what) { narrator.OnProgress("fetch", what); };
  const std::string folder = recording.folder.In("fetched");
  const std::string run = recording.folder.path().substr(recording.folder.path().rfind('/') + 1);
  // Where all files have keys, these are the session.
  const bool has_keys = std::ranges::none_of(
      recording.workers, [](const RecordedWorker& worker) { return FileKeyOf(worker).empty(); });
  std::string again = "tacho analyze" + cluster.options;
  for (const std::string& place : places) again += " " + ShellWord(place);
  if (has_keys) again += " --session " + ShellWord(run);
  again += fmt::format(
      " --fetch {} --fetch-to {}",
      cluster.fetch->all ? "all" : fmt::format("{}", fmt::join(cluster.fetch->ranks, ",")),
      ShellWord(folder));
  const auto report = [&](const std::string& what) {
    ReportFinding(recording, narrator, {FindingId::kNotCollected, "", what, again});
  };
  if (recording.interrupted_ns) return report("not fetched: interrupted");
  auto found = FilesToFetch(traces, *cluster.fetch);
  if (!found) return report(found.error().message);
  for (const Error& failure : found->failures) report("not fetched: " + failure.message);
  if (found->files.empty() && found->failures.empty())
    return narrator.OnRemark("no trace of the ranks to fetch");
  if (found->files.empty()) return;
  request.files = std::move(found->files);
  const auto fetched = FetchFromNodes(request, folder, stop);
  if (!fetched && fetched.error().kind == ErrorKind::kInterrupted)
    recording.interrupted_ns = MonotonicNs();
  if (!fetched) return report("not fetched: " + fetched.error().message);
  for (const std::string& remark : fetched->remarks) narrator.OnRemark(remark);
  for (const Error& failure : fetched->failures) report("not fetched: " + failure.message);
  narrator.OnDone("fetch", FetchedText(*fetched, folder));
}

}  // namespace

Result<RecordedCluster> ClusterOf(const RecordArguments& a) {
  const char* const other = !a.launch.empty()                    ? "--launch"
                            : a.overhead                         ? "--overhead"
                            : !a.session.collect_from.empty()    ? "--collect-from"
                            : !a.session.maps.empty()            ? "--map"
                            : a.via != "auto" && a.via != "http" ? "--via"
                                                                 : nullptr;
  if (other != nullptr)
    return Fail(ErrorKind::kUsage, fmt::format("--ray and {} do not go together", other));
  RecordedCluster cluster;
  TACHO_ASSIGN_OR_RETURN(cluster.access, ClusterAt(*a.ray, a.ray_program));
  cluster.options = " --ray " + ShellWord(*a.ray);
  if (a.ray_program) cluster.options += " --ray-program " + ShellWord(*a.ray_program);
  if (!a.fetch.empty()) {
    TACHO_ASSIGN_OR_RETURN(cluster.fetch, RanksToFetchOf(a.fetch, "record"));
  }
  return cluster;
}

Result<std::vector<std::string>> FindTargets(RecordedCluster& cluster,
                                             std::vector<std::string> named,
                                             const std::stop_token& stop) {
  const auto silent = [](const std::string&) {};
  TACHO_ASSIGN_OR_RETURN(const auto connection,
                         ClusterConnection::Open(cluster.access, silent, stop));
  TACHO_ASSIGN_OR_RETURN(cluster.nodes, connection.api().Nodes(stop));
  if (!named.empty()) return named;
  return FindServers(connection.api(), cluster.nodes, stop);
}

void AnalyseOnNodes(const RecordedCluster& cluster, Recording& recording, Narrator& narrator,
                    const std::stop_token& stop) {
  if (!recording.AnyStarted()) return;
  const auto report = [&](const std::string& what) {
    ReportFinding(recording, narrator, {FindingId::kNotCollected, "", what});
  };
  ClusterRequest request;
  request.access = cluster.access;
  for (const RecordedWorker& worker : recording.workers)
    if (std::ranges::find(request.paths, worker.stays_in) == request.paths.end())
      request.paths.push_back(worker.stays_in);
  request.options = {"--session", "all"};
  const std::vector<std::string> hosts = HostsOf(recording);
  request.wanted = [&](const RayNode& node, const FoundFile& file) {
    bool wanted = false;
    for (size_t i = 0; i < hosts.size(); ++i) {
      RecordedWorker& worker = recording.workers[i];
      if (!IsOf(worker, hosts[i], cluster.nodes, node, file)) continue;
      worker.expectation.files.push_back(node.name + ":" + file.path);
      wanted = true;
    }
    return wanted;
  };
  request.say = [&](const std::string& what) { narrator.OnProgress("nodes", what); };
  const auto folder = TemporaryFolder::Make();
  auto classifier = Classifier::Create();
  if (!folder || !classifier)
    return report(folder ? classifier.error().message : folder.error().message);
  const auto results = AnalyzeOnNodes(request, folder->path(), stop);
  if (!results && results.error().kind == ErrorKind::kInterrupted)
    recording.interrupted_ns = MonotonicNs();
  if (!results)
    return report(fmt::format("the traces on the nodes are not analysed: {}; they are in {}",
                              results.error().message, fmt::join(request.paths, ", ")));
  for (const std::string& remark : results->remarks) narrator.OnRemark(remark);
  for (const Error& failure : results->failures) report(failure.message);
  ExplainMissing(results->failures, recording);
  std::vector<TraceAnalysis> traces;
  for (const NodeResults& of_node : results->results) {
    auto kept = KeepResults(of_node, recording.folder, *classifier);
    if (kept)
      std::ranges::move(*kept, std::back_inserter(traces));
    else
      report(kept.error().message);
  }
  narrator.OnDone("nodes", fmt::format("{} analysed on {}", FormatCounted(traces.size(), "trace"),
                                       FormatCounted(results->results.size(), "node")));
  if (cluster.fetch) Fetch(cluster, traces, request.paths, recording, narrator, stop);
}

}  // namespace tacho

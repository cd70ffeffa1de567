#include "cli/analyze/fetch_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "cli/options/trace_choice.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "cli/screen/reading.h"
#include "io/trace_sources.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

bool Has(const RanksToFetch& ranks, const TraceAnalysis& trace) {
  return ranks.all ||
         (trace.facts.rank && std::ranges::binary_search(ranks.ranks, *trace.facts.rank));
}

// No name of a node has a '/'. A trace may be a part of a file.
Result<NodeFile> NodeFileOf(const std::string& path) {
  const size_t colon = path.find(":/");
  if (colon == std::string::npos || colon == 0 || path.find('/') < colon)
    return Fail(ErrorKind::kUsage, VisibleText(path) + " names no node");
  return NodeFile{path.substr(0, colon), SplitPart(path.substr(colon + 1)).first};
}

// Whether the path is "ARCHIVE:MEMBER".
bool IsInArchive(const std::string& path) {
  constexpr std::array kEnds{".tar:", ".tgz:", ".tar.gz:", ".tar.zst:", ".zip:"};
  return std::ranges::any_of(kEnds,
                             [&](const char* end) { return path.find(end) != std::string::npos; });
}

}  // namespace

OptionGroup FetchArguments::Rows() {
  return {"traces of a Ray cluster, brought here",
          {{"--fetch", "RANKS", "with --ray: the traces of these ranks, as 0,1, or all", &ranks},
           {"--fetch-to", "DIR",
            "into DIR/NODE (default: here); what an earlier call brought is not fetched again",
            &folder}}};
}

Result<void> FetchArguments::Check(bool has_ray) const {
  if (!has_ray && !ranks.empty()) return Fail(ErrorKind::kUsage, "--fetch needs --ray");
  if (folder && ranks.empty()) return Fail(ErrorKind::kUsage, "--fetch-to needs --fetch");
  TACHO_RETURN_IF_ERROR(RanksToFetchOf(ranks, "analyze"));
  return {};
}

Result<RanksToFetch> RanksToFetchOf(const std::vector<std::string>& words,
                                    std::string_view command) {
  RanksToFetch fetch;
  fetch.all = words == std::vector<std::string>{"all"};
  if (fetch.all) return fetch;
  auto ranks = RanksAskedFor(words, command);
  if (!ranks) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("--fetch takes ranks, such as 0,1, or all; see 'tacho {} --help'", command));
  }
  fetch.ranks = *std::move(ranks);
  return fetch;
}

Result<FilesOfRanks> FilesToFetch(const std::vector<TraceAnalysis>& traces,
                                  const RanksToFetch& ranks) {
  FilesOfRanks found;
  std::map<std::pair<std::string, std::string>, uint64_t> files;
  for (const TraceAnalysis& trace : traces) {
    if (!Has(ranks, trace)) continue;
    if (IsInArchive(trace.path)) {
      found.failures.push_back(
          Error{ErrorKind::kUsage, "a trace in an archive is not fetched: unpack it on its node"}
              .WithContext(VisibleText(trace.path)));
      continue;
    }
    TACHO_ASSIGN_OR_RETURN(NodeFile file, NodeFileOf(trace.path));
    uint64_t& bytes = files[{std::move(file.node), std::move(file.path)}];
    bytes = std::max(bytes, trace.bytes);
  }
  for (const auto& [file, bytes] : files) found.files.push_back({file.first, file.second, bytes});
  return found;
}

std::string FetchedText(const FetchedFiles& fetched, const std::string& folder) {
  return fmt::format(
      "{}, {:.1f} MB came{}, in {}", FormatCounted(fetched.files.size(), "trace"),
      static_cast<double>(fetched.brought) / 1e6,
      fetched.there_already == 0 ? "" : fmt::format(", {} there already", fetched.there_already),
      folder);
}

Result<bool> FetchTraces(const ClusterAccess& cluster, const FetchArguments& arguments,
                         const std::vector<TraceAnalysis>& traces, bool shows_progress) {
  FetchRequest request;
  request.access = cluster;
  TACHO_ASSIGN_OR_RETURN(const RanksToFetch ranks, RanksToFetchOf(arguments.ranks, "analyze"));
  TACHO_ASSIGN_OR_RETURN(FilesOfRanks found, FilesToFetch(traces, ranks));
  for (const Error& failure : found.failures) Complain("not fetched: " + failure.message);
  if (found.files.empty()) {
    return found.failures.empty()
               ? Fail(ErrorKind::kUsage, "--fetch: there is no trace of these ranks")
               : Result<bool>(false);
  }
  request.files = std::move(found.files);
  const std::string folder = arguments.folder.value_or(".");
  request.say = [&](const std::string& text) {
    if (shows_progress) DrawOnStderr("\r\x1b[Kray: " + text);
  };
  const auto fetched = [&] {
    const InterruptScope interrupt("ending the jobs on the cluster; what came is kept");
    return FetchFromNodes(request, folder, interrupt.token());
  }();
  if (shows_progress) DrawOnStderr("\r\x1b[K");
  TACHO_RETURN_IF_ERROR(fetched);
  ComplainAll(fetched->remarks);
  for (const Error& failure : fetched->failures) Complain("not fetched: " + failure.message);
  if (!fetched->failures.empty()) Complain("the same command fetches what is missing");
  Complain("fetched " + FetchedText(*fetched, folder));
  return found.failures.empty() && fetched->failures.empty();
}

}  // namespace tacho

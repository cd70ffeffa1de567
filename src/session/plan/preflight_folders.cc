#include "session/plan/preflight_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/disk_room.h"
#include "control/engine_folder.h"
#include "control/launch/profile_needs.h"
#include "control/version.h"
#include "net/url.h"
#include "session/files/trace_folder.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// A window of some seconds writes hundreds of megabytes; twice as much if the engine compresses it.
constexpr uint64_t kLittleRoom = 2ull << 30;

tl::unexpected<Finding> Blocked(FindingId id, const RecordedWorker& worker, std::string evidence,
                                std::string remedy = "") {
  return tl::unexpected(Finding{id, worker.worker.url, std::move(evidence), std::move(remedy)});
}

// The engine's folder as seen from here: mapped by --map, else the same path if it exists. An
// engine on this host creates its folder with its first trace, so it is enough that the parent
// exists.
std::string SeenFromHere(const std::string& folder, const RecordOptions& options, bool local) {
  for (const RecordOptions::PathMap& map : options.maps)
    if (folder == map.engine || folder.starts_with(map.engine + "/"))
      return map.local + folder.substr(map.engine.size());
  std::error_code ignored;
  bool there = fs::is_directory(folder, ignored) ||
               (local && fs::is_directory(fs::path(folder).parent_path(), ignored));
  return there ? folder : "";
}

// Selects the --collect-from for this worker: the only one, or the one that names the worker's
// host.
Checked<std::string> SourceOf(const RecordedWorker& worker, const RecordOptions& options) {
  if (options.collect_from.size() == 1) return options.collect_from.front();
  const Result<Url> url = ParseUrl(worker.worker.url);
  for (const std::string& source : options.collect_from) {
    const std::string host = source.substr(0, source.find(':'));
    if (url &&
        host.substr(host.find('@') == std::string::npos ? 0 : host.find('@') + 1) == url->host)
      return source;
  }
  return Blocked(FindingId::kRequestDoesNotFit, worker,
                 "none of the --collect-from names its host");
}

// --trace-dir; fails if the engine reports another folder.
Checked<std::string> CheckedTraceDir(const RecordedWorker& worker, const RecordOptions& options,
                                     const std::string& engine_folder) {
  // The folder may not exist yet, because engines create it with their first trace.
  std::error_code failed;
  const fs::path folder = fs::absolute(options.trace_dir, failed).lexically_normal();
  if (fs::is_directory(folder, failed)) return options.trace_dir;
  const bool is_its_own = engine_folder.empty() || fs::weakly_canonical(engine_folder, failed) ==
                                                       fs::weakly_canonical(folder, failed);
  if (!is_its_own)
    return Blocked(FindingId::kTraceDirContradicted, worker,
                   fmt::format("reports that it writes its traces to {}; --trace-dir says {}, "
                               "which is not there here",
                               engine_folder, options.trace_dir),
                   fmt::format("give --map {}=DIR, or leave --trace-dir out", engine_folder));
  if (fs::is_directory(folder.parent_path(), failed)) return options.trace_dir;
  return tl::unexpected(Finding{FindingId::kRequestDoesNotFit, options.trace_dir,
                                "--trace-dir is not there to be read"});
}

}  // namespace

// As the paths of the files in it begin.
std::string AsInPaths(const std::string& folder) {
  if (!folder.starts_with('/')) return folder;
  std::string normal = std::filesystem::path(folder).lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

Checked<std::string> FolderOf(RecordedWorker& worker, const RecordOptions& options,
                              const std::string& folder_in_run, ProfileOptions& profile,
                              std::stop_token stop) {
  bool local = !worker.expectation.pids.empty();
  std::string engine_folder = worker.facts.profiler.folder.value_or("");
  const bool names_folder =
      EngineRule(worker.facts.kind, worker.facts.version, "folder_in_start") == "yes";
  if (names_folder) {
    // A worker behind a router may run on another host.
    const auto& behind = worker.worker.in_place_of;
    local = local && (!behind || behind->on_this_host);
    if (!profile.output_dir && local && options.collect_from.empty() && !options.traces_stay)
      profile.output_dir = folder_in_run;
    engine_folder = profile.output_dir.value_or("");
  }
  if (options.traces_stay) {
    worker.stays_in = AsInPaths(options.trace_dir.empty() ? engine_folder : options.trace_dir);
    if (worker.stays_in.starts_with('/')) return std::string();
    if (worker.stays_in.empty()) {
      Finding unknown = FolderUnknown(worker.worker.url, worker.facts);
      unknown.remedy = names_folder ? "give --output-dir DIR, which it makes on its host"
                                    : "give --trace-dir DIR, its folder on its host";
      return tl::unexpected(std::move(unknown));
    }
    return Blocked(FindingId::kFolderNotSeen, worker,
                   fmt::format("writes its traces to {}, which is no folder of its host's disk",
                               worker.stays_in));
  }
  if (!options.collect_from.empty()) {
    Checked<std::string> source = SourceOf(worker, options);
    if (!source) return source;
    Result<RemoteFolder> remote =
        FindRemoteFolder(*source, engine_folder, options.patience, std::move(stop));
    if (!remote) return tl::unexpected(FindingOf(remote.error(), worker.worker.url));
    worker.remote = std::move(*remote);
    return std::string();
  }
  if (!options.trace_dir.empty()) return CheckedTraceDir(worker, options, engine_folder);
  std::string seen = engine_folder.empty() ? "" : SeenFromHere(engine_folder, options, local);
  if (!seen.empty()) return seen;
  if (engine_folder.empty()) return tl::unexpected(FolderUnknown(worker.worker.url, worker.facts));
  return Blocked(FindingId::kFolderNotSeen, worker,
                 fmt::format("writes its traces to {}, which is not seen from here", engine_folder),
                 IsStore(engine_folder)
                     ? fmt::format("mount it, and give --map {}=DIR", engine_folder)
                     : fmt::format("give --map {}=DIR, or --collect-from HOST:{}", engine_folder,
                                   engine_folder));
}

void LookAtRoom(const std::string& folder, std::vector<Finding>& findings) {
  std::error_code failed;
  const std::optional<uint64_t> bytes = FreeBytes(folder);
  const bool is_folder = !fs::exists(folder, failed) || fs::is_directory(folder, failed);
  if (is_folder && (!bytes || *bytes >= kLittleRoom)) return;
  Finding finding{FindingId::kLittleRoom, folder,
                  fmt::format("only {} MB are free for traces", bytes.value_or(0) >> 20)};
  if (!is_folder)
    finding = {FindingId::kTraceFolderBad, folder,
               "it is not a folder: no trace can be written there"};
  else if (*bytes == 0)
    finding = {FindingId::kTraceFolderBad, folder,
               "its file system is full or read-only: no trace can be written there"};
  const bool known = std::ranges::any_of(findings, [&](const Finding& other) {
    return other.id == finding.id && other.subject == folder;
  });
  if (!known) findings.push_back(std::move(finding));
}

}  // namespace tacho

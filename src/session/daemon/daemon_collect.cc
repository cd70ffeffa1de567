#include "session/daemon/daemon_collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/disk_room.h"
#include "net/kineto_message.h"
#include "session/files/trace_folder.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// The files that one worker's processes left, before any is moved.
struct RoundFiles {
  std::vector<std::string> traces;
  std::vector<std::string> own;  // traces at Kineto's own path, because Kineto rejected the folder
  std::vector<std::string> awaited;  // still being written
  size_t refused = 0;                // processes whose Kineto rejected the folder
  size_t late = 0;                   // processes that got the request too late to begin
  size_t silent = 0;                 // processes without a file
  bool HasTraces() const { return !traces.empty() || !own.empty(); }
};

RoundFiles FilesLeftBy(const DaemonRound& round, const std::vector<int64_t>& pids,
                       const std::vector<int64_t>& late, const KinetoDaemon& daemon) {
  std::error_code ignored;
  RoundFiles files;
  for (int64_t pid : pids) {
    const std::string file = round.LeftBy(pid);
    const bool is_own = !file.empty() && !file.starts_with(round.FileOf(pid));
    if (IsAmong(pid, late))
      ++files.late;
    else if (round.Writes(pid, daemon)) {
      files.awaited.push_back(is_own ? file.substr(0, file.rfind(".tmp")) : round.FileOf(pid));
      continue;
    }
    if (!file.empty() && fs::file_size(file, ignored) > 0) {
      (is_own ? files.own : files.traces).push_back(file);
      files.refused += round.Refused(pid) ? 1 : 0;
    } else {
      // Even a process without events leaves a file with content; an empty file is no trace.
      ++files.silent;
      for (const std::string& empty : {file, round.FileOf(pid), round.FileOf(pid) + ".tmp"})
        if (!empty.empty()) fs::remove(empty, ignored);
    }
  }
  return files;
}

std::string WhyLate(const RoundFiles& files, size_t processes, const std::string& folder,
                    const std::string& log_failure) {
  return fmt::format(
      "{} of its {} processes did not begin: the request came too late (Kineto waits 50 ms for an "
      "answer, on a "
      "busy host finds a later one after 5 s, and refuses a start that is past){}",
      files.late, processes,
      log_failure.empty() ? fmt::format(", unless they may not write to {}", folder)
                          : "; its log says: " + log_failure);
}

Finding PathRefused(const RoundFiles& files, size_t processes, const RecordedWorker& worker,
                    const std::string& folder) {
  return {FindingId::kDaemonPathRefused, worker.worker.url,
          fmt::format("{} of its {} processes did not write to {}: Kineto of torch 2.14 and later "
                      "writes a daemon's traces only below /tmp or KINETO_ONDEMAND_TRACE_DIR, and "
                      "else to {}; they were taken from there",
                      files.refused, processes, folder, KinetosOwnFileOf("PID"))};
}

Finding WroteNothing(const RecordedWorker& worker, const std::string& folder) {
  const std::string full = worker.expectation.FullDisk();
  return {
      full.empty() ? FindingId::kNothingWritten : FindingId::kDiskFull, worker.worker.url,
      "its processes live and wrote nothing: " +
          (full.empty() ? fmt::format("whether they may write to {} is not known", folder) : full)};
}

// Whether tacho need not report this trouble here, because the proof will name each rank without a
// file. The proof can do that only if the number of ranks is known.
bool IsForTheProof(const Finding& trouble, const RecordedWorker& worker, const RoundFiles& files) {
  return trouble.id == FindingId::kTooLate && worker.facts.tensor_parallel && files.HasTraces();
}

std::optional<Finding> TroubleOf(RecordedWorker& worker, const std::vector<int64_t>& pids,
                                 const RoundFiles& files, const std::string& folder) {
  const std::string& url = worker.worker.url;
  const auto dead =
      std::count_if(pids.begin(), pids.end(), [](int64_t pid) { return !ProcessLives(pid); });
  if (dead > 0)
    return Finding{
        FindingId::kEngineDied, url,
        fmt::format("{} of its {} processes died{}", dead, pids.size(),
                    worker.log.Death().empty() ? "" : "; its log says: " + worker.log.Death())};
  if (!files.awaited.empty())
    return Finding{FindingId::kStillWriting, url,
                   fmt::format("{} of its {} processes still write: {} will be there",
                               files.awaited.size(), pids.size(), files.awaited.front())};
  if (files.late > 0)
    return Finding{FindingId::kTooLate, url,
                   WhyLate(files, pids.size(), folder, worker.expectation.log_failure)};
  if (!files.HasTraces() && !pids.empty()) return WroteNothing(worker, folder);
  if (files.silent > 0 && !worker.facts.tensor_parallel)
    return Finding{
        FindingId::kRanksUnknown, url,
        fmt::format(
            "{} of its {} processes left no file, and it does not tell how many ranks it has",
            files.silent, pids.size())};
  return std::nullopt;
}

// Brings the traces of one worker to its folder. Removes each original that now has a whole copy in
// the folder.
Result<BroughtFiles> Bring(const RoundFiles& files, const DaemonPlace& place,
                           const std::string& folder) {
  TACHO_ASSIGN_OR_RETURN(BroughtFiles brought, BringFiles(files.traces, folder, place.owner));
  TACHO_ASSIGN_OR_RETURN(BroughtFiles own, BringFiles(files.own, folder, place.user));
  std::ranges::move(own.files, std::back_inserter(brought.files));
  std::ranges::move(own.whole, std::back_inserter(brought.whole));
  if (own.no_room) brought.no_room = std::move(own.no_room);
  std::error_code ignored;
  // An original stays if the folder only links to it or holds a part of it: it is the only copy.
  for (const std::string& file : brought.whole) fs::remove(file, ignored);
  return brought;
}

}  // namespace

std::vector<Finding> BringRound(const DaemonRound& round, const KinetoDaemon& daemon,
                                std::vector<RecordedWorker>& workers) {
  const std::vector<int64_t> late = round.Late(daemon, round.Files());
  std::vector<Finding> findings;
  for (const auto& [index, pids] : round.askers()) {
    RecordedWorker& worker = workers[index];
    const DaemonPlace& place = round.PlaceOf(index);
    const std::string& folder = place.folder;
    const RoundFiles files = FilesLeftBy(round, pids, late, daemon);
    worker.expectation.room_bytes = FreeBytes(folder);
    worker.expectation.log_failure = worker.log.Failure();
    Result<BroughtFiles> brought = Bring(files, place, worker.folder);
    if (!brought) {
      findings.push_back({FindingId::kNotCollected, "", brought.error().message});
      continue;
    }
    if (brought->no_room) findings.push_back(std::move(*brought->no_room));
    worker.expectation.files = std::move(brought->files);
    if (files.refused > 0) findings.push_back(PathRefused(files, pids.size(), worker, folder));
    const std::optional<Finding> trouble = TroubleOf(worker, pids, files, folder);
    if (!trouble) continue;
    worker.expectation.trouble = trouble;
    if (!IsForTheProof(*trouble, worker, files)) findings.push_back(*trouble);
  }
  return findings;
}

}  // namespace tacho

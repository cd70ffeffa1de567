#include "session/daemon_collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "session/trace_folder.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// What the processes of one worker left, before anything is moved.
struct Left {
  std::vector<std::string> files;
  std::vector<std::string> awaited;  // still being written
  size_t late = 0;                   // processes that live and did not begin
  size_t silent = 0;                 // processes without a file
};

Left WhatIsLeft(const DaemonRound& round, const std::vector<int64_t>& pids,
                const std::vector<int64_t>& late, const KinetoDaemon& daemon) {
  std::error_code ignored;
  Left left;
  for (int64_t pid : pids) {
    std::string file = round.trace().FileOf(pid);
    if (IsAmong(pid, late))
      ++left.late;
    else if (round.Writes(pid, daemon)) {
      left.awaited.push_back(file);
      continue;
    }
    if (!fs::exists(file, ignored)) file += ".tmp";
    if (fs::exists(file, ignored) && fs::file_size(file, ignored) > 0) {
      left.files.push_back(file);
    } else {
      // A process without events leaves a whole file as well; what is empty is no trace.
      ++left.silent;
      fs::remove(file, ignored);
    }
  }
  return left;
}

std::string WhyLate(const Left& left, size_t processes, const std::string& folder,
                    const std::string& log_failure) {
  return fmt::format(
      "{} of its {} processes did not begin: told too late (Kineto waits 50 ms for an answer, on a "
      "busy host finds a later one after 5 s, and refuses a start that is past){}",
      left.late, processes,
      log_failure.empty() ? fmt::format(", unless they may not write to {}", folder)
                          : "; its log says: " + log_failure);
}

std::string WhyNothing(const WorkerExpectation& expectation, const std::string& folder) {
  const std::string full = expectation.FullDisk();
  return "its processes live and wrote nothing: " +
         (full.empty() ? fmt::format("whether they may write to {} is not known", folder) : full);
}

struct Wrong {
  std::string text;          // "": nothing is
  bool proof_tells = false;  // it names what is missing, if anything is
};

Wrong WhatIsWrong(RecordedWorker& worker, const std::vector<int64_t>& pids, const Left& left,
                  const std::string& folder) {
  // Then the proof knows how many ranks there are.
  const bool known = worker.facts.tensor_parallel.has_value();
  const auto dead =
      std::count_if(pids.begin(), pids.end(), [](int64_t pid) { return !ProcessLives(pid); });
  if (dead > 0)
    return {fmt::format("{} of its {} processes died{}", dead, pids.size(),
                        worker.log.Death().empty() ? "" : "; its log says: " + worker.log.Death())};
  if (!left.awaited.empty())
    return {fmt::format("{} of its {} processes still write: {} will be there", left.awaited.size(),
                        pids.size(), left.awaited.front())};
  if (left.late > 0)
    return {WhyLate(left, pids.size(), folder, worker.expectation.log_failure),
            known && !left.files.empty()};
  if (left.files.empty() && !pids.empty()) return {WhyNothing(worker.expectation, folder)};
  if (left.silent > 0 && !known)
    return {fmt::format(
        "{} of its {} processes left no file, and it does not tell how many ranks it has",
        left.silent, pids.size())};
  return {};
}

}  // namespace

std::vector<std::string> BringRound(const DaemonRound& round, const KinetoDaemon& daemon,
                                    std::vector<RecordedWorker>& workers) {
  const std::string& folder = round.trace().folder;
  const std::vector<int64_t> late = round.Late(daemon, ReadFolder(folder));
  std::vector<std::string> troubles;
  for (const auto& [index, pids] : round.askers()) {
    RecordedWorker& worker = workers[index];
    const Left left = WhatIsLeft(round, pids, late, daemon);
    worker.expectation.room_bytes = FreeBytes(folder);
    worker.expectation.log_failure = worker.log.Failure();
    Result<BroughtFiles> brought = BringFiles(left.files, worker.folder);
    if (!brought) {
      troubles.push_back(brought.error().message);
      continue;
    }
    // A file that is only linked to, or not whole in the worker's folder, is the only one.
    std::error_code ignored;
    for (const std::string& file : brought->whole) fs::remove(file, ignored);
    if (!brought->no_room.empty()) troubles.push_back(brought->no_room);
    worker.expectation.files = std::move(brought->files);
    const Wrong wrong = WhatIsWrong(worker, pids, left, folder);
    if (wrong.text.empty()) continue;
    worker.expectation.trouble = wrong.text;
    if (!wrong.proof_tells) troubles.push_back(worker.worker.url + ": " + wrong.text);
  }
  return troubles;
}

}  // namespace tacho

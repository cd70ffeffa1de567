// The files of the workers' profilers: which are a worker's own, when all are there, and their way
// into the run folder.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "session/fetch_files.h"
#include "session/profiler_session.h"

namespace tacho {

std::string_view ProfilerSession::PrefixOf(const RecordedWorker& worker) {
  const bool keyed = worker.facts.profiler.reads_body && worker.start &&
                     worker.start->body.find(worker.key) != std::string::npos;
  return keyed ? std::string_view(worker.key) : std::string_view();
}

void ProfilerSession::LookIntoFolders() {
  for (const RecordedWorker& worker : recording_.workers)
    if (!worker.folder.empty()) before_[worker.folder] = ReadFolder(worker.folder);
}

bool ProfilerSession::FilesThere() const {
  return options_.profile.steps && !running_.empty() &&
         std::all_of(running_.begin(), running_.end(), [&](size_t i) {
           const RecordedWorker& worker = recording_.workers[i];
           size_t whole = 0;
           for (const std::string& file : FilesOf(worker)) whole += LooksWhole(file);
           return !worker.folder.empty() && whole >= ExpectedFiles(worker);
         });
}

std::vector<FlushState> ProfilerSession::Flushes() {
  std::vector<FlushState> flushes;
  for (size_t i : running_) {
    RecordedWorker& worker = recording_.workers[i];
    FlushState flush{worker.worker.url, {}, {}, worker.log.LastWord()};
    if (!worker.folder.empty()) {
      FolderState now = ReadFolder(worker.folder);
      flush.bytes = 0;
      for (const std::string& file : FilesOf(worker)) *flush.bytes += now[file].bytes;
    }
    if (took_ns_[i] != 0) flush.took_ns = took_ns_[i];
    flushes.push_back(std::move(flush));
  }
  return flushes;
}

void ProfilerSession::Collect(std::stop_token stop) {
  for (RecordedWorker& worker : recording_.workers) CollectOf(worker, stop);
  // vLLM answers 200 whatever became of the trace; its log knows.
  for (RecordedWorker& worker : recording_.workers)
    if (const std::string& failure = worker.log.Failure(); !failure.empty()) {
      worker.expectation.log_failure = failure;
      Remark(fmt::format("{}: its log says: {}", worker.worker.url, failure));
    }
}

void ProfilerSession::CollectOf(RecordedWorker& worker, std::stop_token stop) {
  const std::string target = recording_.folder.In("traces/" + worker.expectation.name);
  const auto progress = [&](uint64_t bytes) {
    observer_.OnProgress("collect", fmt::format("{} {:.1f} MB", worker.worker.url,
                                                static_cast<double>(bytes) / 1e6));
  };
  // A worker that refused or died leaves what it leaves.
  const bool healthy = worker.expectation.trouble.empty();
  if (healthy) stop = {};
  Result<BroughtFiles> brought;
  if (worker.remote) {
    Result<std::vector<std::string>> fetched =
        FetchFiles(*worker.remote, PrefixOf(worker), worker.expectation.start_unix_ns, target,
                   options_.patience, stop, progress);
    if (fetched)
      brought->files = std::move(*fetched);
    else
      brought = tl::unexpected(fetched.error());
  } else {
    SettleOptions settle;
    settle.patience = options_.patience;
    settle.expected = healthy ? ExpectedFiles(worker) : 0;
    WaitForFiles(worker.folder, before_[worker.folder], settle, stop, progress);
    worker.expectation.room_bytes = FreeBytes(worker.folder);
    brought = BringFiles(FilesOf(worker), target);
  }
  if (!brought) {
    Fail(worker, brought.error().message);
    return;
  }
  worker.expectation.files = std::move(brought->files);
  if (!brought->no_room.empty()) recording_.troubles.push_back(brought->no_room);
}

// One a rank, and one a stage where stages were asked for.
size_t ProfilerSession::ExpectedFiles(const RecordedWorker& worker) const {
  const auto ranks = static_cast<size_t>(worker.facts.ExpectedRanks().value_or(1));
  return options_.profile.IsOn("profile_by_stage") ? 2 * ranks : ranks;
}

// What is new in the worker's folder and may be its own: by its key where the engine reads one.
std::vector<std::string> ProfilerSession::FilesOf(const RecordedWorker& worker) const {
  std::vector<std::string> files;
  if (worker.folder.empty()) return files;
  const auto before = before_.find(worker.folder);
  for (const std::string& file : NewFiles(before == before_.end() ? FolderState() : before->second,
                                          ReadFolder(worker.folder)))
    if (IsTraceName(file) &&
        std::string_view(file).substr(file.rfind('/') + 1).starts_with(PrefixOf(worker)))
      files.push_back(file);
  return files;
}

std::string ProfilerSession::Traces() const {
  std::string lines;
  for (size_t i : running_) {
    const RecordedWorker& worker = recording_.workers[i];
    const std::string folder =
        worker.remote ? worker.remote->host + ":" + worker.remote->path : worker.folder;
    lines += fmt::format("  {}/{}*  ({})\n", folder, PrefixOf(worker), worker.worker.url);
  }
  return lines;
}

}  // namespace tacho

// The files of the workers' profilers: which are a worker's own, when all are there, and their way
// into the run folder.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "net/clock.h"
#include "session/fetch_files.h"
#include "session/profiler_session.h"

namespace tacho {

std::string_view ProfilerSession::KeyOf(const RecordedWorker& worker) {
  const bool keyed = worker.facts.profiler.reads_body && worker.start &&
                     worker.start->body.find(worker.key) != std::string::npos;
  return keyed ? std::string_view(worker.key) : std::string_view();
}

void ProfilerSession::LookIntoFolders() {
  for (const RecordedWorker& worker : recording_.workers)
    if (!worker.folder.empty()) before_[worker.folder] = ReadFolder(worker.folder);
}

bool ProfilerSession::FilesThere() const {
  return recording_.window.steps && !running_.empty() &&
         std::all_of(running_.begin(), running_.end(),
                     [&](size_t i) { return WroteAll(recording_.workers[i]); });
}

bool ProfilerSession::WroteAll(const RecordedWorker& worker) const {
  if (worker.folder.empty()) return false;
  size_t whole = 0;
  for (const std::string& file : FilesOf(worker)) whole += LooksWhole(file);
  return whole >= ExpectedFiles(worker);
}

namespace {

// What an engine does in its flush, by the files that are there: PyTorch writes NAME.tmp, or packs
// a temporary one into NAME; vLLM's table is its last.
std::string DoingOf(const RecordedWorker& worker, const FolderState& written) {
  size_t whole = 0, tables = 0, traces = 0;
  for (const auto& [path, state] : written) {
    if (path.ends_with(".tmp")) return "writes its JSON";
    tables += IsTableName(path);
    if (!IsTraceName(path)) continue;
    ++traces;
    whole += LooksWhole(path);
  }
  if (traces == 0) return "nothing is written yet";
  if (whole < traces) return "writes its trace";
  const bool has_table =
      worker.facts.kind == EngineKind::kVllm && (worker.facts.profiler.dump_table.value_or(false) ||
                                                 (worker.figures && worker.figures->table_ns > 0));
  if (has_table && tables < traces)
    return "its trace is whole, its table of averages (profiler_out) is being made";
  return "its trace is whole";
}

}  // namespace

std::vector<FlushState> ProfilerSession::Flushes() {
  std::vector<FlushState> flushes;
  for (size_t i : running_) {
    RecordedWorker& worker = recording_.workers[i];
    FlushState flush;
    flush.url = worker.worker.url;
    flush.said = worker.log.LastWord();
    if (worker.forecast) flush.expected_ns = static_cast<int64_t>(worker.forecast->flush_ns);
    if (!worker.folder.empty()) {
      const FolderState written = WrittenBy(worker);
      flush.bytes = 0;
      for (const auto& [path, state] : written)
        if (IsTraceName(path)) *flush.bytes += state.bytes;
      flush.doing = DoingOf(worker, written);
    }
    if (!ended_by_themselves_.contains(i))
      flush.took_ns = stops_.TookNs(i);
    else if (WroteAll(worker))
      flush.took_ns = 0;
    flushes.push_back(std::move(flush));
  }
  return flushes;
}

void ProfilerSession::Collect(std::stop_token stop) {
  // Those that are well first: one that died takes no file of theirs.
  for (const bool healthy : {true, false})
    for (size_t i = 0; i < recording_.workers.size(); ++i)
      if (recording_.workers[i].expectation.trouble.empty() == healthy) CollectOf(i, stop);
  // vLLM answers 200 whatever became of the trace; its log knows.
  for (RecordedWorker& worker : recording_.workers)
    if (const std::string& failure = worker.log.Failure(); !failure.empty()) {
      worker.expectation.log_failure = failure;
      Remark(fmt::format("{}: its log says: {}", worker.worker.url, failure));
    }
}

double ProfilerSession::TableNs(const RecordedWorker& worker) const {
  int64_t trace = 0, table = 0;
  for (const auto& [path, state] : WrittenBy(worker)) {
    if (IsTableName(path)) table = std::max(table, state.modified_ns);
    if (IsTraceName(path)) trace = std::max(trace, state.modified_ns);
  }
  return trace > 0 && table > trace ? static_cast<double>(table - trace) : 0;
}

void ProfilerSession::WaitForFilesOf(const RecordedWorker& worker, const std::stop_token& stop,
                                     const std::function<void(uint64_t)>& progress) {
  SettleOptions settle;
  settle.patience = options_.patience;
  settle.key = KeyOf(worker);
  settle.expected = worker.expectation.trouble.empty() ? ExpectedFiles(worker) : 0;
  WaitForFiles(worker.folder, before_[worker.folder], settle, stop, progress);
}

void ProfilerSession::CollectOf(size_t index, std::stop_token stop) {
  if (!collected_.insert(index).second) return;
  RecordedWorker& worker = recording_.workers[index];
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
    worker.written_unix_ns = WrittenUnixNs(worker);
    Result<std::vector<std::string>> fetched =
        FetchFiles(*worker.remote, KeyOf(worker), worker.expectation.start_unix_ns, target,
                   options_.patience, stop, progress);
    if (fetched)
      brought->files = std::move(*fetched);
    else
      brought = tl::unexpected(fetched.error());
  } else {
    WaitForFilesOf(worker, stop, progress);
    worker.expectation.room_bytes = FreeBytes(worker.folder);
    worker.written_unix_ns = WrittenUnixNs(worker);
    worker.table_ns = TableNs(worker);
    TakeFilesOfOneProcess(index);
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

FolderState ProfilerSession::WrittenBy(const RecordedWorker& worker) const {
  FolderState written;
  if (worker.folder.empty()) return written;
  const auto before = before_.find(worker.folder);
  const FolderState now = ReadFolder(worker.folder);
  for (const std::string& file :
       NewFiles(before == before_.end() ? FolderState() : before->second, now))
    if (NameHasKey(file, KeyOf(worker)) && !OfAnother(worker, file)) written[file] = now.at(file);
  return written;
}

namespace {

// A vLLM that reads no key names its files "c4b40-rank-0.1795446008329839580.pt.trace.json", by an
// id of its process.
std::string ProcessIdIn(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const size_t end = name.find("-rank-");
  return end == std::string::npos ? "" : name.substr(0, end);
}

}  // namespace

bool ProfilerSession::OfAnother(const RecordedWorker& worker, const std::string& file) const {
  const std::string id = ProcessIdIn(file);
  if (id.empty() || !KeyOf(worker).empty()) return false;
  if (const auto owner = owners_.find(id); owner != owners_.end())
    return &recording_.workers[owner->second] != &worker;
  return worker.facts.instance != "id:" + id &&
         std::ranges::any_of(recording_.workers, [&](const RecordedWorker& other) {
           return other.facts.instance == "id:" + id;
         });
}

void ProfilerSession::TakeFilesOfOneProcess(size_t index) {
  const RecordedWorker& worker = recording_.workers[index];
  const bool shared = std::ranges::any_of(recording_.workers, [&](const RecordedWorker& other) {
    return &other != &worker && other.folder == worker.folder;
  });
  if (!shared || !KeyOf(worker).empty() || worker.facts.instance.starts_with("id:")) return;
  std::map<std::string, size_t> ids;  // how many files
  for (const std::string& file : FilesOf(worker)) ++ids[ProcessIdIn(file)];
  ids.erase("");
  if (ids.size() < 2) return;
  size_t taken = 0;
  for (const auto& [id, files] : ids) {
    if (taken < ExpectedFiles(worker)) owners_[id] = index;
    taken += files;
  }
  Remark(
      fmt::format("{}: engines of this version share its folder and do not tell which files are "
                  "theirs: it was given those of the process {}",
                  worker.worker.url, ids.begin()->first));
}

std::vector<std::string> ProfilerSession::FilesOf(const RecordedWorker& worker) const {
  std::vector<std::string> files;
  for (const auto& [path, state] : WrittenBy(worker))
    if (IsTraceName(path)) files.push_back(path);
  return files;
}

int64_t ProfilerSession::WrittenUnixNs(const RecordedWorker& worker) const {
  const bool local = !worker.expectation.pids.empty();
  int64_t written = 0;
  if (local)
    for (const auto& [path, state] : WrittenBy(worker))
      if (IsTraceName(path) || IsTableName(path)) written = std::max(written, state.modified_ns);
  if (written > 0) return written;
  const ClockPair clocks = ReadClocks();
  const int64_t answered = worker.stopped ? worker.stopped->answered_ns : clocks.monotonic_ns;
  return answered + clocks.unix_ns - clocks.monotonic_ns + worker.facts.clock_offset_ns.value_or(0);
}

std::string ProfilerSession::PlaceOf(const RecordedWorker& worker) {
  const std::string folder =
      worker.remote ? worker.remote->host + ":" + worker.remote->path : worker.folder;
  return fmt::format("{}/{}*", folder, KeyOf(worker));
}

std::string ProfilerSession::Traces() const {
  std::string lines;
  for (size_t i : running_) {
    const RecordedWorker& worker = recording_.workers[i];
    lines += fmt::format("  {}  ({})\n", PlaceOf(worker), worker.worker.url);
  }
  return lines;
}

std::string ProfilerSession::StopCommand() const {
  std::string line = "tacho engine stop";
  for (size_t i : running_) line += " " + recording_.workers[i].worker.url;
  return line + "\n";
}

void ProfilerSession::SayWhatIsLeft() {
  observer_.OnLeftBehind(running_.empty()
                             ? ""
                             : "profilers may still be running; stop them with:\n" + StopCommand() +
                                   "their traces are, or will be,\n" + Traces());
}

}  // namespace tacho

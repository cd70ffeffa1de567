#include "session/files/worker_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"

namespace tacho {
namespace {

std::string NameIn(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The engine's id in a file name: vLLM 0.11 to 0.16 name their files
// "c4b40-rank-0.1795446008329839580.pt.trace.json".
std::string ProcessIdIn(const std::string& path) {
  const std::string name = NameIn(path);
  const size_t end = name.find("-rank-");
  return end == std::string::npos ? "" : name.substr(0, end);
}

// Whether a part of the name ends in one of the pids. vLLM 0.10 writes
// "HOST_PID.1795446008329839580.pt.trace.json.gz"; later front ends write
// "HOST_PID.async_llm.1795446008329839580.pt.trace.json.gz".
bool EndsInPid(std::string name, const std::vector<int64_t>& pids) {
  for (size_t dot = name.rfind('.'); dot != std::string::npos; dot = name.rfind('.')) {
    name.resize(dot);
    for (int64_t pid : pids)
      if (name.ends_with(fmt::format("_{}", pid))) return true;
  }
  return false;
}

}  // namespace

std::string_view FileKeyOf(const RecordedWorker& worker) {
  const bool keyed = KeyNamesFiles(worker.facts) && worker.start &&
                     worker.start->body.find(worker.key) != std::string::npos;
  return keyed ? std::string_view(worker.key) : std::string_view();
}

std::string PlaceOf(const RecordedWorker& worker) {
  const std::string folder = worker.remote             ? worker.remote->Text()
                             : worker.stays_in.empty() ? worker.folder
                                                       : worker.stays_in;
  return fmt::format("{}/{}*", folder, FileKeyOf(worker));
}

void WorkerFiles::LookIntoFolders() {
  for (const RecordedWorker& worker : workers_)
    if (!worker.folder.empty()) before_[worker.folder] = ReadFolder(worker.folder);
}

const FolderState& WorkerFiles::Before(const std::string& folder) const {
  static const FolderState kNothing;
  const auto before = before_.find(folder);
  return before == before_.end() ? kNothing : before->second;
}

std::vector<std::string> WorkerFiles::NewTracesIn(const std::string& folder) const {
  std::vector<std::string> files = NewFiles(Before(folder), ReadFolder(folder));
  std::erase_if(files, [&](const std::string& file) { return !IsTraceName(file, folder); });
  return files;
}

FolderState WorkerFiles::WrittenBy(const RecordedWorker& worker) const {
  FolderState written;
  if (worker.folder.empty()) return written;
  const FolderState now = ReadFolder(worker.folder);
  for (const std::string& file : NewFiles(Before(worker.folder), now))
    if (NameHasKey(file, FileKeyOf(worker)) && !OfAnother(worker, file))
      written[file] = now.at(file);
  return written;
}

std::vector<std::string> WorkerFiles::TracesOf(const RecordedWorker& worker) const {
  std::vector<std::string> files;
  for (const auto& [path, state] : WrittenBy(worker))
    if (IsTraceName(path, worker.folder)) files.push_back(path);
  return files;
}

size_t WorkerFiles::Expected(const RecordedWorker& worker) const {
  const auto ranks = static_cast<size_t>(worker.facts.ExpectedRanks().value_or(1));
  return options_.profile.IsOn("profile_by_stage") ? 2 * ranks : ranks;
}

bool WorkerFiles::WroteAll(const RecordedWorker& worker) const {
  if (worker.folder.empty()) return false;
  size_t whole = 0;
  for (const std::string& file : TracesOf(worker)) whole += LooksWhole(file);
  return whole >= Expected(worker);
}

void WorkerFiles::WaitFor(const RecordedWorker& worker, const std::stop_token& stop,
                          const std::function<void(uint64_t)>& progress) const {
  SettleOptions settle;
  settle.patience = options_.patience;
  settle.key = FileKeyOf(worker);
  settle.expected = worker.expectation.trouble ? 0 : Expected(worker);
  WaitForFiles(worker.folder, Before(worker.folder), settle, stop, progress);
}

int64_t WorkerFiles::WrittenUnixNs(const RecordedWorker& worker) const {
  const bool local = !worker.expectation.pids.empty();
  int64_t written = 0;
  if (local)
    for (const auto& [path, state] : WrittenBy(worker))
      if (IsTraceName(path, worker.folder) || IsTableName(path))
        written = std::max(written, state.modified_ns);
  if (written > 0) return written;
  const ClockPair clocks = ReadClocks();
  const int64_t answered = worker.stopped ? worker.stopped->answered_ns : clocks.monotonic_ns;
  return answered + clocks.unix_ns - clocks.monotonic_ns + worker.facts.clock_offset_ns.value_or(0);
}

double WorkerFiles::TableNs(const RecordedWorker& worker) const {
  int64_t trace = 0, table = 0;
  for (const auto& [path, state] : WrittenBy(worker)) {
    if (IsTableName(path)) table = std::max(table, state.modified_ns);
    if (IsTraceName(path, worker.folder)) trace = std::max(trace, state.modified_ns);
  }
  return trace > 0 && table > trace ? static_cast<double>(table - trace) : 0;
}

// PyTorch writes NAME.tmp, or packs a temporary file into NAME. vLLM writes its table last.
std::string WorkerFiles::DoingOf(const RecordedWorker& worker) const {
  size_t whole = 0, tables = 0, traces = 0;
  for (const auto& [path, state] : WrittenBy(worker)) {
    if (path.ends_with(".tmp")) return "writes its JSON";
    tables += IsTableName(path);
    if (!IsTraceName(path, worker.folder)) continue;
    ++traces;
    whole += LooksWhole(path);
  }
  if (traces == 0) return "nothing is written yet";
  if (whole < traces) return "writes its trace";
  const bool has_table = worker.facts.profiler.dump_table.value_or(false) ||
                         (worker.figures && worker.figures->table_ns > 0);
  if (has_table && tables < traces)
    return "its trace is whole, its table of averages (profiler_out) is being made";
  return "its trace is whole";
}

bool WorkerFiles::OfAnother(const RecordedWorker& worker, const std::string& file) const {
  const std::string id = ProcessIdIn(file);
  if (id.empty() || !FileKeyOf(worker).empty()) return false;
  const auto is_worker = [&](const auto& owner) { return &workers_[owner.second] == &worker; };
  if (const auto owner = owners_.find(id); owner != owners_.end()) return !is_worker(*owner);
  if (std::ranges::any_of(owners_, is_worker)) return true;
  return worker.facts.instance.id != id &&
         std::ranges::any_of(
             workers_, [&](const RecordedWorker& other) { return other.facts.instance.id == id; });
}

std::optional<Finding> WorkerFiles::TakeFilesOfOneProcess(size_t index) {
  const RecordedWorker& worker = workers_[index];
  const bool shared = std::ranges::any_of(workers_, [&](const RecordedWorker& other) {
    return &other != &worker && other.folder == worker.folder;
  });
  if (!shared || !FileKeyOf(worker).empty() || !worker.facts.instance.id.empty())
    return std::nullopt;
  std::map<std::string, size_t> ids;  // number of files by process id
  for (const std::string& file : TracesOf(worker)) ++ids[ProcessIdIn(file)];
  ids.erase("");
  if (ids.size() < 2) return std::nullopt;
  size_t taken = 0;
  for (const auto& [id, files] : ids) {
    if (taken < Expected(worker)) owners_[id] = index;
    taken += files;
  }
  return Finding{FindingId::kSharedFolder, worker.worker.url,
                 "engines of this version share its folder and do not tell which files are theirs: "
                 "it was given those of the process " +
                     ids.begin()->first};
}

bool WorkerFiles::NamesItsProcess(const RecordedWorker& worker, const std::string& file) const {
  // If tacho itself named the folder in this worker's start request, everything in it is this
  // worker's: no other engine was told to write there.
  const auto& told = worker.profile.output_dir;
  if (told && *told == worker.folder && told != options_.profile.output_dir) return true;
  if (!FileKeyOf(worker).empty()) return true;
  const std::string id = ProcessIdIn(file);
  return id.empty() ? EndsInPid(NameIn(file), worker.expectation.pids)
                    : id == worker.facts.instance.id;
}

WorkerFiles::ByOwner WorkerFiles::DivideByOwner() const {
  std::set<std::string> ours, unclear;
  for (const RecordedWorker& worker : workers_) {
    for (const auto& [path, state] : WrittenBy(worker)) {
      const bool is_new = !Before(worker.folder).contains(path);
      if (is_new && NamesItsProcess(worker, path))
        ours.insert(path);
      else if (IsTraceName(path, worker.folder))
        unclear.insert(path);
    }
  }
  std::erase_if(unclear, [&](const std::string& path) { return ours.contains(path); });
  return {{ours.begin(), ours.end()}, {unclear.begin(), unclear.end()}};
}

}  // namespace tacho

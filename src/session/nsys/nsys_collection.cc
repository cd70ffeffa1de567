#include "session/nsys/nsys_collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"
#include "ingest/nsys_sqlite/export_report.h"
#include "ingest/nsys_sqlite/nsys_program.h"
#include "session/files/trace_folder.h"
#include "session/http/flush_progress.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLookAtReport{200};
constexpr int64_t kReportQuietNs = 600'000'000;
// How long to wait after the stop if no file grows. Normally nsys writes the report before its stop
// returns. If the engine died, nsys's agent writes the report later by itself.
constexpr int64_t kReportPatienceNs = 20'000'000'000;

uint64_t BytesIn(const std::string& path) {
  std::error_code failed;
  const uintmax_t size = fs::file_size(path, failed);
  return failed ? 0 : size;
}

}  // namespace

NsysCollection::NsysCollection(const NsysControl& nsys, const RecordOptions& options,
                               RecordObserver& observer, Recording& recording)
    : DriverWindow(options, observer, recording), nsys_(nsys) {
  recording_.nsys = NsysWindow{nsys_.version(), {}};
  for (size_t i = 0; i < recording_.workers.size(); ++i) {
    Use& use = sessions_[recording_.workers[i].nsys_session];
    const std::string& name = recording_.workers[i].expectation.name;
    if (use.workers.empty())
      use.report = fs::absolute(recording_.folder.In(fmt::format("traces/{0}/{0}", name))).string();
    use.workers.push_back(i);
  }
}

Result<void> NsysCollection::StartOne(const std::string& session, const Use& use) const {
  TACHO_ASSIGN_OR_RETURN(const std::vector<NsysSession> sessions, nsys_.Sessions());
  const auto found = std::ranges::find(sessions, session, &NsysSession::name);
  if (found == sessions.end())
    return tacho::Fail(ErrorKind::kRemote, fmt::format("its session {} has ended", session));
  if (found->Records())
    return tacho::Fail(ErrorKind::kRemote,
                       fmt::format("somebody began to record in its session {}", session));
  return nsys_.Start(nsys_.StartWords(session, use.report));
}

bool NsysCollection::Start(std::stop_token) {
  const int64_t begin = ReadClocks().unix_ns;
  std::map<std::string, std::future<Result<void>>> starts;
  for (const auto& [session, use] : sessions_) {
    recording_.nsys->commands.push_back(nsys_.StartWords(session, use.report));
    starts[session] = std::async(std::launch::async, [this, &session = session, &use = use] {
      return StartOne(session, use);
    });
  }
  bool all = true;
  for (auto& [session, use] : sessions_) {
    const Result<void> started = starts[session].get();
    use.records = started.has_value();
    all &= use.records;
    for (const size_t i : use.workers)
      recording_.workers[i].expectation.start_unix_ns = use.records ? begin : 0;
    if (!started)
      FailAll(use, {.id = FindingId::kDidNotStart,
                    .subject = "",
                    .evidence = "nsys did not start: " + started.error().message,
                    .remedy = "nsys sessions list shows the sessions and their states",
                    .brief = "nsys did not start"});
  }
  SayWhatIsLeft();
  return all || (options_.keep_going &&
                 std::ranges::any_of(sessions_, [](const auto& s) { return s.second.records; }));
}

void NsysCollection::Stop(const std::function<void()>& on_the_way, std::stop_token, const OnLate&) {
  const int64_t begin = MonotonicNs(), begin_unix_ns = ReadClocks().unix_ns;
  std::map<std::string, std::future<Result<void>>> stops;
  std::atomic<double> share = 0;
  for (const auto& [session, use] : sessions_) {
    if (!use.records) continue;
    recording_.nsys->commands.push_back(nsys_.StopWords(session));
    stops[session] = std::async(std::launch::async, [&, words = nsys_.StopWords(session)] {
      return nsys_.Stop(words, options_.patience, [&](double now) { share = now; });
    });
  }
  for (auto& [session, stopping] : stops) {
    Use& use = sessions_[session];
    while (stopping.wait_for(kLookAtReport) != std::future_status::ready)
      observer_.OnProgress("stop",
                           fmt::format("{}, nsys writes its report, {:.0f} %",
                                       SecondsText(MonotonicNs() - begin), 100 * share.load()));
    const Result<void> stopped = stopping.get();
    for (const size_t i : use.workers) {
      WorkerExpectation& expectation = recording_.workers[i].expectation;
      expectation.stop_asked_unix_ns = begin_unix_ns;
      expectation.stop_unix_ns = ReadClocks().unix_ns;
      expectation.answered_stop = stopped.has_value();
    }
    if (!stopped) use.stop_failed = stopped.error().message;
  }
  on_the_way();
  if (stops.empty()) return;
  observer_.OnDone("stop", SecondsText(MonotonicNs() - begin) + " until nsys had written");
}

int64_t NsysCollection::PatienceNs() const {
  const int64_t allowed_ns = options_.patience.count() * 1'000'000;
  return allowed_ns > 0 ? std::min(allowed_ns, kReportPatienceNs) : kReportPatienceNs;
}

std::string NsysCollection::AwaitReport(const Use& use) const {
  const std::string report = use.report + ".nsys-rep", raw = use.report + ".qdstrm";
  uint64_t size = 0;
  int64_t changed = MonotonicNs();
  while (true) {
    const int64_t now = MonotonicNs();
    const uint64_t is = BytesIn(report) + BytesIn(raw);
    if (is != size) changed = now;
    size = is;
    const int64_t quiet = now - changed;
    if (BytesIn(report) > 0 && quiet > kReportQuietNs) return report;
    // After a good stop nothing will convert the raw recording to a report. After a failed stop
    // nsys's agent may still do so, and the wait is longer.
    if (BytesIn(raw) > 0 && quiet > (use.stop_failed.empty() ? kReportQuietNs : PatienceNs()))
      return raw;
    if (quiet > PatienceNs()) return "";
    observer_.OnProgress("collect", SizeText(static_cast<double>(size)) + " of the report");
    std::this_thread::sleep_for(kLookAtReport);
  }
}

Finding NsysCollection::WhyNotExported(const std::string& file, const Error& error) const {
  const bool raw = file.ends_with(".qdstrm");
  // The error message ends with the importer's own words.
  if (raw && error.message.find("libssh") != std::string::npos)
    return {FindingId::kNsysNoLibrary, "",
            "nsys left a raw recording: its QdstrmImporter does not find libssh: " + error.message,
            "install libssh (where it is installed: link libssh.so.4 as libssh.so beside "
            "QdstrmImporter), then: tacho analyze " +
                ShellWord(file)};
  const auto nsys = raw ? FindNsys({}) : std::nullopt;
  if (nsys && FindImporter(*nsys).empty())
    return {FindingId::kNsysNoImporter, "",
            "nsys left a raw recording, because it has no QdstrmImporter here",
            "install Nsight Systems whole (its folder host-linux-x64 beside target-linux-x64), "
            "then: tacho analyze " +
                ShellWord(file)};
  return {FindingId::kNotCollected, "", file + " " + error.message,
          "tacho analyze " + ShellWord(file)};
}

void NsysCollection::CollectOne(const std::string& session, const Use& use,
                                const std::stop_token& stop) {
  const std::string file = AwaitReport(use);
  const bool raw = file.ends_with(".qdstrm");
  if (!use.stop_failed.empty()) {
    const auto sessions = nsys_.Sessions();
    const bool is_there = sessions && std::ranges::any_of(*sessions, [&](const NsysSession& s) {
                            return s.name == session && s.Records();
                          });
    FailAll(use, is_there || !sessions
                     ? Finding{FindingId::kStopRefused, "",
                               "nsys did not stop: " + use.stop_failed + ": it may still record",
                               "nsys stop --session=" + ShellWord(session)}
                     : Finding{FindingId::kEngineDied, "",
                               "its session of nsys ended before its stop: " + use.stop_failed});
  }
  if (file.empty())
    return FailAll(use, {FindingId::kNsysNoReport, "",
                         fmt::format("no report came within {} of the stop, nor grew: {}.nsys-rep",
                                     SecondsText(PatienceNs()), use.report)});
  const auto exported = ExportNsysReport(
      file, {.is_stream = raw, .stop = stop, .on_share = [&](double share) {
               observer_.OnProgress("export", fmt::format("{:.0f} % of {}", 100 * share, file));
             }});
  if (!exported) {
    if (exported.error().kind != ErrorKind::kInterrupted)
      return FailAll(use, WhyNotExported(file, exported.error()));
    return FailAll(use,
                   {FindingId::kInterrupted, "", "interrupted in its export; the report is there",
                    "tacho analyze " + ShellWord(file)});
  }
  if (raw)
    ReportFinding(recording_, observer_,
                  {FindingId::kNsysRawImported, recording_.workers[use.workers[0]].worker.url,
                   "nsys left a raw recording, because it did not find its QdstrmImporter; tacho "
                   "imported it"});
  const std::string named =
      exported->folder.At(fs::path(use.report).filename().string() + ".sqlite");
  std::error_code failed;
  fs::rename(exported->path, named, failed);
  auto brought = BringFiles({named}, fs::path(use.report).parent_path().string());
  // The export's own folder will be removed, so a mere link to the file in it would be useless.
  if (!brought || brought->no_room)
    return FailAll(use, {FindingId::kNotCollected, "",
                         brought ? brought->no_room->Words() : brought.error().message,
                         "tacho analyze " + ShellWord(file)});
  // The path in the form in which the recording names its own files.
  const std::string in_run = recording_.folder.In(
      fmt::format("traces/{0}/{1}", recording_.workers[use.workers[0]].expectation.name,
                  fs::path(brought->files[0]).filename().string()));
  for (const size_t i : use.workers) recording_.workers[i].expectation.files = {in_run};
}

void NsysCollection::Collect(std::stop_token stop) {
  if (stop.stop_requested()) stop = {};
  const int64_t begin = MonotonicNs();
  bool any = false;
  for (const auto& [session, use] : sessions_) {
    if (!use.records) continue;
    any = true;
    CollectOne(session, use, stop);
  }
  if (any) observer_.OnDone("export", SecondsText(MonotonicNs() - begin) + " until it was SQLite");
}

void NsysCollection::FailAll(const Use& use, const Finding& trouble) {
  for (const size_t i : use.workers) {
    Finding of_worker = trouble;
    of_worker.subject = recording_.workers[i].worker.url;
    Fail(recording_.workers[i], std::move(of_worker));
  }
}

void NsysCollection::SayWhatIsLeft() {
  std::string text;
  for (const auto& [session, use] : sessions_)
    if (use.records)
      text += fmt::format(
          "nsys may still record; stop it with:\nnsys stop --session={}\n"
          "its report is, or will be, {}.nsys-rep\n",
          ShellWord(session), use.report);
  observer_.OnLeftBehind(text);
}

}  // namespace tacho

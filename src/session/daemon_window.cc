#include "session/daemon_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "base/pause.h"
#include "base/time.h"
#include "control/kineto_daemon.h"
#include "control/local_engine.h"
#include "net/clock.h"
#include "session/flush_progress.h"
#include "session/trace_folder.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kFirstQuestionNs = 12'000 * kNsPerMs;  // every process asks each 5 s; some sleep
constexpr std::chrono::milliseconds kLookAtTraces{200};
constexpr int64_t kMarginMs = 500;
constexpr size_t kMostNamed = 64;
// Of a second window, where some were too late for the first: up to five answers may be late.
constexpr int64_t kLongLeadMs = KinetoDaemon::kLeadMs + 4 * KinetoDaemon::kPollMs;

bool Contains(const std::vector<int64_t>& pids, int64_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

// The processes that asked, by the index of their worker.
std::map<size_t, std::vector<int64_t>> Askers(const KinetoDaemon& daemon,
                                              const std::vector<RecordedWorker>& workers) {
  std::map<size_t, std::vector<int64_t>> askers;
  for (const DaemonProcess& process : daemon.Processes()) {
    for (size_t i = 0; i < workers.size(); ++i) {
      const std::vector<int64_t>& pids = workers[i].expectation.pids;
      bool own = Contains(pids, process.pid) ||
                 std::any_of(process.ancestors.begin(), process.ancestors.end(),
                             [&](int64_t pid) { return Contains(pids, pid); });
      if (own) askers[i].push_back(process.pid);
    }
  }
  return askers;
}

// Whether one of them said so with its last question, and has asked lately: it may have died.
bool Tracing(const KinetoDaemon& daemon, const std::vector<int64_t>& pids, int64_t now_ns) {
  const std::vector<DaemonProcess> processes = daemon.Processes();
  return std::any_of(processes.begin(), processes.end(), [&](const DaemonProcess& process) {
    return process.tracing && now_ns - process.asked_ns < 4 * KinetoDaemon::kPollMs * kNsPerMs &&
           Contains(pids, process.pid);
  });
}

// One that ended but was not waited for yet is gone as well.
bool Lives(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string stat((std::istreambuf_iterator<char>(file)), {});
  const size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) != "Z";
}

// A window under way.
class Window {
 public:
  Window(std::vector<RecordedWorker>& workers, const DaemonWindowOptions& options,
         std::stop_token stop, RecordObserver& observer, const std::function<void()>& on_interrupt)
      : workers_(workers),
        options_(options),
        stop_(std::move(stop)),
        observer_(observer),
        on_interrupt_(on_interrupt) {}

  DaemonWindow Take() {
    window_.socket_folder = options_.socket_folder.empty()
                                ? DaemonSocketFolder(workers_.front().expectation.pids)
                                : options_.socket_folder;
    auto daemon = KinetoDaemon::Listen(window_.socket_folder);
    if (!daemon) {
      window_.troubles.push_back(daemon.error().message);
      return std::move(window_);
    }
    daemon_ = std::move(*daemon);
    Meet();
    if (told_.empty() || stop_.stop_requested()) return std::move(window_);
    Tell("kineto", KinetoDaemon::kLeadMs);
    WaitForTheFiles();
    if (MayTryAgain()) TryAgain();
    if (window_.begun()) Collect();
    return std::move(window_);
  }

 private:
  // Until everybody has asked. All processes of an engine ask within one period of each other: a
  // period without a new one after the first tells that all are there.
  void Meet() {
    const int64_t begin = MonotonicNs();
    int64_t changed = begin;
    while (!stop_.stop_requested()) {
      askers_ = Askers(*daemon_, workers_);
      size_t count = 0;
      for (const auto& [worker, pids] : askers_) count += pids.size();
      const int64_t now = MonotonicNs();
      if (count != told_.size()) changed = now;
      told_.clear();
      for (const auto& [worker, pids] : askers_)
        told_.insert(told_.end(), pids.begin(), pids.end());
      if (askers_.size() == workers_.size() &&
          now - changed > (KinetoDaemon::kPollMs + 500) * kNsPerMs)
        break;
      if (now - begin > kFirstQuestionNs + KinetoDaemon::kPollMs * kNsPerMs) break;
      observer_.OnProgress("rendezvous", fmt::format("{} processes have asked", count));
      Pause(stop_, kLookAtTraces);
    }
    if (stop_.stop_requested()) return;
    for (size_t i = 0; i < workers_.size(); ++i)
      if (!askers_.contains(i))
        Fail(i,
             "no process of it asked the daemon: it looks for another socket "
             "(KINETO_IPC_SOCKET_DIR), or PyTorch is not loaded yet");
  }

  void Fail(size_t worker, const std::string& trouble) {
    workers_[worker].expectation.trouble = trouble;
    window_.troubles.push_back(workers_[worker].worker.url + ": " + trouble);
  }

  void Tell(const std::string& stem, int64_t lead_ms) {
    // One folder for all: a worker's own files are told by pid, and brought to its folder.
    trace_.folder = fs::path(workers_.front().folder).parent_path().string();
    trace_.stem = stem;
    trace_.start_unix_ms = daemon_->AllToldByUnixMs(told_) + lead_ms;
    trace_.duration_ms = options_.duration_ns / kNsPerMs;
    trace_.with_stack = options_.with_stack;
    trace_.record_shapes = options_.record_shapes;
    began_.clear();
    daemon_->Request(told_, trace_);
    const ClockPair clocks = ReadClocks();
    window_.processes = told_.size();
    window_.request = trace_.ConfigText();
    window_.begin_ns = clocks.monotonic_ns + trace_.start_unix_ms * kNsPerMs - clocks.unix_ns;
    window_.end_ns = window_.begin_ns + options_.duration_ns;
    for (const auto& [index, pids] : askers_) {
      workers_[index].expectation.start_unix_ns = trace_.start_unix_ms * kNsPerMs;
      workers_[index].expectation.stop_unix_ns =
          trace_.start_unix_ms * kNsPerMs + options_.duration_ns;
    }
    SayWhatIsLeft();
  }

  void NoteWhoBegan() {
    for (const DaemonProcess& process : daemon_->Processes())
      if (process.tracing &&
          process.asked_ns > window_.begin_ns - KinetoDaemon::kReadyMs * kNsPerMs)
        began_.insert(process.pid);
  }

  // Whether a process takes part in the window. Kineto opens a file before it warms up, and where
  // it refuses a start for being past it opens that all the same, then.
  bool TakesPart(int64_t pid, const FolderState& folder) const {
    if (began_.contains(pid) || folder.contains(trace_.FileOf(pid))) return true;
    const auto open = folder.find(trace_.FileOf(pid) + ".tmp");
    return open != folder.end() &&
           (open->second.bytes > 0 || open->second.modified_ns < trace_.start_unix_ms * kNsPerMs);
  }

  // Those that live and did not begin: asked again within the window, or behind it, they were idle.
  std::vector<int64_t> Late(const FolderState& folder) const {
    std::vector<int64_t> late;
    for (const DaemonProcess& process : daemon_->Processes())
      if (Contains(told_, process.pid) && !process.tracing &&
          process.asked_ns > window_.begin_ns + kMarginMs * kNsPerMs &&
          !TakesPart(process.pid, folder))
        late.push_back(process.pid);
    return late;
  }

  bool MayTryAgain() const {
    return !interrupted_ && !stop_.stop_requested() && !Late(ReadFolder(trace_.folder)).empty() &&
           std::none_of(told_.begin(), told_.end(), [&](int64_t pid) { return Writes(pid); });
  }

  // A window in which a rank is missing is worth little: all take another one, at one time again.
  void TryAgain() {
    window_.remarks.push_back(
        fmt::format("{} of {} processes were too late for the window: another one is taken of all",
                    Late(ReadFolder(trace_.folder)).size(), told_.size()));
    observer_.OnRemark(window_.remarks.back());
    const auto drop_first = [first = trace_, pids = told_] {
      std::error_code ignored;
      for (const int64_t pid : pids)
        for (const char* ending : {"", ".tmp"}) fs::remove(first.FileOf(pid) + ending, ignored);
    };
    drop_first();
    Tell("kineto-again", kLongLeadMs);
    WaitForTheFiles();
    drop_first();  // what a late process opened for it meanwhile
  }

  void SayWhatIsLeft() const {
    std::string text = fmt::format(
        "no process can be told to end its window early: it ends at {}, and those with events then "
        "write\n",
        TimeOfDay(trace_.start_unix_ms * kNsPerMs + options_.duration_ns));
    for (size_t i = 0; i < std::min(told_.size(), kMostNamed); ++i)
      text += "  " + trace_.FileOf(told_[i]) + "\n";
    if (told_.size() > kMostNamed)
      text += fmt::format("  and {} more of the same form\n", told_.size() - kMostNamed);
    observer_.OnLeftBehind(text + "nothing else goes on; there is no run.json\n");
  }

  // The user's Ctrl-C. False when there is nothing to wait for.
  bool Interrupt() {
    interrupted_ = true;
    on_interrupt_();
    told_ = daemon_->Withdraw();
    window_.processes = told_.size();
    for (auto& [index, pids] : askers_) {
      std::erase_if(pids, [&](int64_t pid) { return !Contains(told_, pid); });
      if (pids.empty()) {
        workers_[index].expectation.start_unix_ns = workers_[index].expectation.stop_unix_ns = 0;
        workers_[index].expectation.trouble = "interrupted before it was told to profile";
      }
    }
    if (told_.empty()) {
      window_.begin_ns = window_.end_ns = 0;
      observer_.OnLeftBehind("");
      return false;
    }
    SayWhatIsLeft();
    observer_.OnRemark(fmt::format(
        "interrupted: {} processes were told of their window, which cannot be cut short: it ends "
        "in "
        "{} and is kept; Ctrl-C again ends tacho at once",
        told_.size(), SecondsText(std::max<int64_t>(0, window_.end_ns - MonotonicNs()))));
    return true;
  }

  // Until the window is over, then until the files no longer grow.
  void WaitForTheFiles() {
    FolderState last;
    int64_t changed = MonotonicNs();
    while (true) {
      if (stop_.stop_requested() && !interrupted_ && !Interrupt()) return;
      const FolderState now = ReadFolder(trace_.folder);
      const int64_t time = MonotonicNs();
      if (now != last) changed = time;
      last = now;
      uint64_t bytes = 0;
      for (const auto& [path, state] : now) bytes += state.bytes;
      const auto whole = static_cast<size_t>(std::count_if(
          told_.begin(), told_.end(), [&](int64_t pid) { return LooksWhole(trace_.FileOf(pid)); }));
      observer_.OnProgress(time < window_.end_ns ? "profile" : "flush",
                           time < window_.begin_ns
                               ? "begins in " + SecondsText(window_.begin_ns - time)
                               : Files(time, whole, bytes));
      NoteWhoBegan();
      const size_t late = Late(now).size();
      if (late == told_.size() || (time > window_.end_ns && whole + late == told_.size())) break;
      // Processes without events write nothing at all, and Kineto builds a large file in memory
      // before its first byte; while it does, the process goes on asking and says that it traces.
      if (Tracing(*daemon_, told_, time)) changed = time;
      const int64_t quiet = (whole > 0 ? 10'000 : 60'000) * kNsPerMs;
      if (time > window_.end_ns && time - std::max(changed, window_.end_ns) > quiet) break;
      if (options_.patience.count() > 0 &&
          time > window_.end_ns + options_.patience.count() * kNsPerMs)
        break;
      std::this_thread::sleep_for(kLookAtTraces);
    }
  }

  std::string Files(int64_t now, size_t whole, uint64_t bytes) const {
    const std::string files = fmt::format("{} of {} files, {:.1f} MB", whole, told_.size(),
                                          static_cast<double>(bytes) / 1e6);
    return now < window_.end_ns
               ? fmt::format("ends in {}, {}", SecondsText(window_.end_ns - now), files)
               : files;
  }

  // Whether a process was not done when the patience ended. Of one without events the last question
  // within the window says that it traces, too.
  bool Writes(int64_t pid) const {
    if (!Lives(pid) || LooksWhole(trace_.FileOf(pid))) return false;
    const int64_t now = MonotonicNs();
    for (const DaemonProcess& process : daemon_->Processes())
      if (process.pid == pid && process.tracing)
        return process.asked_ns > window_.end_ns ||
               now - window_.end_ns < KinetoDaemon::kPollMs * kNsPerMs;
    return false;
  }

  // To the folder of each worker, but what is still being written: it would lose its name.
  void Collect() {
    std::error_code ignored;
    const std::vector<int64_t> late = Late(ReadFolder(trace_.folder));
    for (const auto& [index, pids] : askers_) {
      RecordedWorker& worker = workers_[index];
      std::vector<std::string> files, awaited;
      size_t silent = 0;
      for (int64_t pid : pids) {
        std::string file = trace_.FileOf(pid);
        if (Writes(pid)) {
          awaited.push_back(file);
          continue;
        }
        if (!fs::exists(file, ignored)) file += ".tmp";
        if (fs::exists(file, ignored) && fs::file_size(file, ignored) > 0) files.push_back(file);
        // A process without events leaves a whole file as well; what is empty is no trace.
        else
          ++silent, fs::remove(file, ignored);
      }
      worker.expectation.room_bytes = FreeBytes(trace_.folder);
      worker.expectation.log_failure = worker.log.Failure();
      Result<BroughtFiles> brought = BringFiles(files, worker.folder);
      if (!brought) {
        window_.troubles.push_back(brought.error().message);
        continue;
      }
      for (const std::string& file : files) fs::remove(file, ignored);
      worker.expectation.files = std::move(brought->files);
      const auto dead =
          std::count_if(pids.begin(), pids.end(), [](int64_t pid) { return !Lives(pid); });
      if (dead > 0)
        Fail(index, fmt::format(
                        "{} of its {} processes died{}", dead, pids.size(),
                        worker.log.Death().empty() ? "" : "; its log says: " + worker.log.Death()));
      else if (!awaited.empty())
        Fail(index, fmt::format("{} of its {} processes still write: {} will be there",
                                awaited.size(), pids.size(), awaited.front()));
      else if (const auto of_it = std::count_if(pids.begin(), pids.end(),
                                                [&](int64_t pid) { return Contains(late, pid); });
               of_it > 0)
        NameLate(index, static_cast<size_t>(of_it), files.empty());
      else if (files.empty() && !pids.empty())
        Fail(index, "its processes live and wrote nothing: " + WhyNothing(worker.expectation));
      // Where the number of ranks is told, the proof names those that are missing.
      else if (silent > 0 && !worker.facts.tensor_parallel)
        Fail(index,
             fmt::format("{} of its {} processes left no file, and it does not tell how many "
                         "ranks it has",
                         silent, pids.size()));
    }
  }

  // Where the number of ranks is told, the proof names those that are missing, if any is.
  void NameLate(size_t index, size_t late, bool nothing_there) {
    RecordedWorker& worker = workers_[index];
    const std::string& said = worker.expectation.log_failure;
    const std::string why = fmt::format(
        "{} of its {} processes did not begin: told too late (Kineto waits 50 ms for an answer, on "
        "a busy host finds a later one after 5 s, and refuses a start that is past){}",
        late, askers_[index].size(),
        said.empty() ? fmt::format(", unless they may not write to {}", trace_.folder)
                     : "; its log says: " + said);
    if (nothing_there || !worker.facts.tensor_parallel)
      Fail(index, why);
    else
      worker.expectation.trouble = why;
  }

  std::string WhyNothing(const WorkerExpectation& expectation) const {
    const std::string full = expectation.FullDisk();
    return full.empty() ? fmt::format("whether they may write to {} is not known", trace_.folder)
                        : full;
  }

  std::vector<RecordedWorker>& workers_;
  const DaemonWindowOptions& options_;
  const std::stop_token stop_;
  RecordObserver& observer_;
  const std::function<void()>& on_interrupt_;
  DaemonWindow window_;
  std::unique_ptr<KinetoDaemon> daemon_;
  std::map<size_t, std::vector<int64_t>> askers_;  // processes by worker
  std::vector<int64_t> told_;                      // all of them
  DaemonTrace trace_;
  std::set<int64_t> began_;  // that said so
  bool interrupted_ = false;
};

}  // namespace

DaemonWindow TakeDaemonWindow(std::vector<RecordedWorker>& workers,
                              const DaemonWindowOptions& options, std::stop_token stop,
                              RecordObserver& observer, const std::function<void()>& on_interrupt) {
  return Window(workers, options, std::move(stop), observer, on_interrupt).Take();
}

}  // namespace tacho

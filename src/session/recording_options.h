#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/live/profile_control.h"
#include "load/drive/drive.h"
#include "load/plan/plan.h"
#include "session/plan/budget.h"
#include "session/plan/measured_overhead.h"

namespace tacho {

enum class Via { kAuto, kHttp, kDaemon, kNsys };
inline constexpr std::array kVias = {Via::kAuto, Via::kHttp, Via::kDaemon, Via::kNsys};
std::string_view NameOf(Via via);  // "http", as the option --via accepts it

// A load that the caller has planned, such as the load of `tacho load`.
struct GivenLoad {
  LoadPlan plan;
  std::vector<DriveTarget> targets;
  DriveOptions drive;
};

struct RecordOptions {
  std::vector<std::string> targets;
  ProfileOptions profile;  // Record sets its key
  Via via = Via::kAuto;
  std::string out = ".";  // the folder in which the run folder is made

  bool load = true;             // false: the user sends the load
  bool through_router = false;  // tacho's load goes to the router, not straight to the workers
  // How to plan tacho's load. Record() sets the duration. It sets no number of requests, because
  // the load must go on through all windows. A concurrency of 0 means 8 for each worker.
  PlanOptions plan;
  // If set, this load replaces `plan`. The profilers start before its first request, without
  // warm-up or baseline, and stop at the end of the window while the load goes on. Only by HTTP.
  std::optional<GivenLoad> given_load;
  // The profilers stop after the last request of `given_load`: nothing else bounds the window.
  bool whole_load = false;
  int64_t warm_up_ns = 3'000'000'000;
  int64_t baseline_ns = 5'000'000'000;  // an unprofiled window, to measure the cost of profiling
  std::optional<OverheadOptions> overhead;  // windows between the baseline and the recording
  // The longest profiled window. It ends sooner when the steps asked for are taken, or when
  // `window_requests` requests have ended.
  int64_t window_ns = 10'000'000'000;
  bool window_asked = false;  // the user set `window_ns`: no budget bounds the window
  Budget budget;
  std::optional<uint64_t> window_requests;

  std::string trace_dir;  // where the engines write traces, as seen from here
  // The traces stay on the hosts that wrote them, where something else than this library reads
  // them. `trace_dir` is then a folder of those hosts. Only by HTTP, and without `overhead`.
  bool traces_stay = false;
  // "HOST:/path" or "HOST": traces are fetched from there by ssh. One value for all workers, or one
  // for each host in the workers' URLs.
  std::vector<std::string> collect_from;
  // One for all workers, or one for each worker in their order.
  std::vector<std::string> engine_logs;
  struct PathMap {
    std::string engine, local;
  };
  std::vector<PathMap> maps;  // an engine's folder, and where it is mounted here
  std::string socket_folder;  // where the daemon's socket is; "": it has the abstract name
  std::string nsys_session;   // its name; "": the session in which the engine's processes run
  bool keep_going = false;    // records the workers that can be profiled if others cannot
  std::chrono::milliseconds patience{0};  // for stop and flush; 0: no limit
  std::string command;                    // goes into run.json and commands.sh: without secrets
};

}  // namespace tacho

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
std::string_view NameOf(Via via);  // "http", as --via takes it

// A load that the caller has planned, as `tacho load` sends it.
struct GivenLoad {
  LoadPlan plan;
  std::vector<DriveTarget> targets;
  DriveOptions drive;
};

struct RecordOptions {
  std::vector<std::string> targets;
  ProfileOptions profile;  // Record sets its key
  Via via = Via::kAuto;
  std::string out = ".";  // the run folder is made in it

  bool load = true;             // false: the user sends the load
  bool through_router = false;  // sends the load to the router, not straight to the workers
  // Record sets its duration; its number of requests is not set, because the load goes on through
  // all windows. A concurrency of 0: 8 a worker.
  PlanOptions plan;
  // In place of `plan`: the profilers start before its first request, with neither warm-up nor
  // baseline, and stop at the end of the window while the load goes on. By HTTP alone.
  std::optional<GivenLoad> given_load;
  bool whole_load = false;  // profilers stop after its last request: nothing bounds the window
  int64_t warm_up_ns = 3'000'000'000;
  int64_t baseline_ns = 5'000'000'000;      // unprofiled, to measure the cost of profiling
  std::optional<OverheadOptions> overhead;  // windows between the baseline and the recording
  // The longest profiled window: it ends sooner when the steps asked for are taken, or when
  // window_requests requests have ended.
  int64_t window_ns = 10'000'000'000;
  bool window_asked = false;  // the user set it: no budget bounds it
  Budget budget;
  std::optional<uint64_t> window_requests;

  std::string trace_dir;  // where the engines write, as seen from here
  // "HOST:/path" or "HOST": fetched by ssh. One for all, or one for each host of the workers' URLs.
  std::vector<std::string> collect_from;
  std::vector<std::string> engine_logs;  // one for all workers, or one for each in their order
  struct PathMap {
    std::string engine, local;
  };
  std::vector<PathMap> maps;              // an engine's folder mounted elsewhere
  std::string socket_folder;              // of the daemon, "" for its abstract name
  std::string nsys_session;               // its name; "": the session of the engine's processes
  bool keep_going = false;                // goes on with the workers that can be profiled
  std::chrono::milliseconds patience{0};  // for stop and flush; 0: as long as it takes
  std::string command;                    // for run.json and commands.sh: without secrets
};

}  // namespace tacho

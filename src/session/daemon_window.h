#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "session/record.h"

namespace tacho {

struct DaemonWindowOptions {
  std::string socket_folder;  // "": where the first worker's processes look
  int64_t duration_ns = 0;
  bool with_stack = false, record_shapes = false;
  std::chrono::milliseconds patience{0};  // for the files, 0: as long as they grow
};
struct DaemonWindow {
  int64_t begin_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC, as it was asked for
  size_t processes = 0;              // that were told
  std::vector<std::string> troubles;
};

// Profiles the processes of all workers, all at one time, through Kineto's daemon protocol, and
// waits for their files in each worker's folder. Fills what each worker's expectation needs. Once
// the processes were told, a window cannot be called off: `stop` ends the waiting only.
DaemonWindow TakeDaemonWindow(
    std::vector<RecordedWorker>& workers, const DaemonWindowOptions& options, std::stop_token stop,
    const std::function<void(std::string_view, const std::string&)>& progress);

}  // namespace tacho

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "session/recording.h"

namespace tacho {

struct DaemonWindowOptions {
  std::string socket_folder;  // "": where the first worker's processes look
  int64_t duration_ns = 0;
  bool with_stack = false, record_shapes = false;
  std::chrono::milliseconds patience{0};  // for the files, 0: as long as they grow
};

// Profiles the processes of all workers, all at one time, through Kineto's daemon protocol, and
// waits for their files in each worker's folder. Fills in what each worker's expectation needs.
//
// The protocol has no stop: a process carries out every request that it has read. So on `stop` this
// takes the request back from processes that have not asked for it yet, calls `on_interrupt` once,
// and waits for the windows and the files of the others.
DaemonWindow TakeDaemonWindow(std::vector<RecordedWorker>& workers,
                              const DaemonWindowOptions& options, std::stop_token stop,
                              RecordObserver& observer, const std::function<void()>& on_interrupt);

}  // namespace tacho

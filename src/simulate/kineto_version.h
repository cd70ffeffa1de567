#pragma once

#include <cstdint>

#include "simulate/worker.h"

namespace tacho::simulate {

// What differs between the versions of Kineto in the engines' torch.
struct KinetoVersion {
  int32_t idle = 3, tracing = 1;  // the states that processes report to the daemon
  // A daemon's traces must be below /tmp or KINETO_ONDEMAND_TRACE_DIR.
  bool restricts_folder = false;
};
// vLLM 0.33 and SGLang 0.5.22 came with torch 2.14; a fault gives it to older ones.
KinetoVersion KinetoOf(const WorkerOptions& options);

}  // namespace tacho::simulate

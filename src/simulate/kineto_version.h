#pragma once

#include <cstdint>

#include "simulate/worker.h"

namespace tacho::simulate {

// What differs between versions of Kineto, which is part of the engines' torch.
struct KinetoVersion {
  int32_t idle = 3, tracing = 1;  // states that processes report to the daemon
  // Traces that a daemon requests must lie below /tmp or KINETO_ONDEMAND_TRACE_DIR.
  bool restricts_folder = false;
};
// vLLM 0.33 and SGLang 0.5.22 are the first with torch 2.14; a fault gives it to older ones.
KinetoVersion KinetoOf(const WorkerOptions& options);

}  // namespace tacho::simulate

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/engine_instance.h"

namespace tacho {

inline constexpr std::chrono::milliseconds kProbePatience{30'000};  // a busy server answers slowly
// The time limit of a probe, if the user allows `allowed` for each answer. `allowed` of 0
// (unlimited) is meant for a flush, so a probe keeps its own limit.
constexpr std::chrono::milliseconds ProbePatience(std::chrono::milliseconds allowed) {
  return allowed.count() > 0 ? std::min(allowed, kProbePatience) : kProbePatience;
}

// For the kinds after kSglang, rules/engine_versions.rules alone says how to recognize and ask
// them, and how to read their answers.
enum class EngineKind {
  kUnknown,
  kVllm,
  kSglang,
  kTensorRtLlm,
  kTokenSpeed,  // at its control port
  kDynamoVllm,  // Dynamo's workers, at their system port: it takes no requests
  kDynamoSglang,
  kSmg,  // the router itself, in place of the engines behind it
};
constexpr bool IsKnown(EngineKind kind) { return kind != EngineKind::kUnknown; }
// The most ranks that tacho believes a server to have: a table of its ranks must fit into memory.
inline constexpr int kMostRanks = 65'536;
enum class WorkerRole { kRegular, kPrefill, kDecode };

// Engines that speak no HTTP, behind a router that starts the profilers of all of them.
struct BehindRouter {
  EngineKind kind = EngineKind::kUnknown;
  std::string model;  // the model that the engines serve, by the router's list
  int engines = 1;
  std::optional<int64_t> tensor_parallel;  // of each engine, by the list; absent if they differ
  bool on_this_host = false;               // all their addresses are loopback addresses
};

// One server that holds an engine, as discovery found it. A router's "@rank" entries of one server
// are one Worker.
struct Worker {
  std::string url;  // "http://10.0.0.5:8000": no path, no rank, no slash at the end
  WorkerRole role = WorkerRole::kRegular;
  std::vector<int> dp_ranks;      // from "@rank", ascending; empty without ranks
  bool healthy_by_router = true;  // as the router reports; true without a report
  std::string found_in;           // "router http://...: /workers", "launch.log:120", ...
  std::optional<BehindRouter> in_place_of = {};  // set if this is a router that stands for engines
};

// The ways to start an engine's profiler.
struct ProfilerFacts {
  bool has_http = false;          // POST /start_profile exists
  bool reads_body = false;        // vLLM: prefix and limits are read; SGLang: always true
  bool reads_profile_id = false;  // SGLang from 0.5.15
  // vLLM: its /openapi.json lists profiler_kwargs. Its Rust front end does not list the field, and
  // drops it.
  bool reads_kwargs = false;
  bool has_daemon = false;  // a process of this engine asked our Kineto daemon (this host only)
  bool launched_by_nsys = false;  // below nsys launch --session-new=NAME (this host only)
  // The profiler configuration that the engine reports; absent if it reports none (only its
  // developer mode does).
  std::optional<std::string> kind;  // "torch", "cuda", "proton"
  std::optional<std::string> folder;
  std::optional<bool> with_stack, record_shapes, use_gzip, ignore_frontend, dump_table,
      captures_graphs;
  std::optional<int64_t> delay_iterations, max_iterations, wait_iterations, warmup_iterations,
      active_iterations;
};

// What a probe learned of one engine. What the engine does not report is absent.
struct EngineFacts {
  EngineKind kind = EngineKind::kUnknown;
  std::string version;  // "0.32.0"; "" if not reported
  std::string model;    // the name that requests must carry
  std::optional<int64_t> max_model_len;
  // Each, and the product of all three, is from 1 to kMostRanks.
  std::optional<int> tensor_parallel, pipeline_parallel, data_parallel;
  std::string not_believed;  // a reported size out of bounds: "tensor parallel 100000000"; or ""
  std::optional<bool> asleep;
  std::optional<int> sleep_level;  // vLLM's, while it sleeps; at 2 it has dropped its weights
  bool has_metrics = false;
  std::string device;  // SGLang: "cuda", "cpu", ...; "" if not reported
  ProfilerFacts profiler;
  EngineInstance instance;
  // The engine's clock minus ours, from its Date header (whole seconds) or time stamps; and the
  // largest error of that difference.
  std::optional<int64_t> clock_offset_ns, clock_error_ns;
  int64_t round_trip_ns = 0;  // the time of the fastest probe

  // The number of files that a session leaves: the ranks of all engines behind this server. Absent
  // if the parallel sizes are not reported.
  std::optional<int> ExpectedRanks() const;
};

}  // namespace tacho

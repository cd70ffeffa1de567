#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/engine_instance.h"

namespace tacho {

inline constexpr std::chrono::milliseconds kProbePatience{30'000};  // for busy servers
// The time limit of a probe if the user allows `allowed` for each answer. If the user sets no limit
// (0), a probe still has its own: the user means the flush, which may take long.
constexpr std::chrono::milliseconds ProbePatience(std::chrono::milliseconds allowed) {
  return allowed.count() > 0 ? std::min(allowed, kProbePatience) : kProbePatience;
}

// For the kinds after kSglang, only rules/engine_versions.rules says how to recognize them, what to
// ask them, and how to read their answers.
enum class EngineKind {
  kUnknown,
  kVllm,
  kSglang,
  kTensorRtLlm,
  kTokenSpeed,  // reached at its control port
  kDynamoVllm,  // a worker of Dynamo, at its system port, which takes no requests
  kDynamoSglang,
  kSmg,  // the router itself; it stands for the engines behind it
};
constexpr bool IsKnown(EngineKind kind) { return kind != EngineKind::kUnknown; }
// A server that claims to have more ranks than this is not believed, because a table of the ranks
// must fit into memory.
inline constexpr int kMostRanks = 65'536;
enum class WorkerRole { kRegular, kPrefill, kDecode };

// Engines without HTTP, behind a router that starts all their profilers.
struct BehindRouter {
  EngineKind kind = EngineKind::kUnknown;
  std::string model;  // the model that the engines serve, from the router's list
  int engines = 1;
  // The tensor-parallel size of each engine, from the router's list; absent if engines differ.
  std::optional<int64_t> tensor_parallel;
  bool on_this_host = false;  // all engines have loopback addresses
};

// One server with an engine, as discovery found it. If a router lists a server several times, as
// "@rank" entries, they are one Worker.
struct Worker {
  std::string url;  // "http://10.0.0.5:8000": without path, rank or slash at the end
  WorkerRole role = WorkerRole::kRegular;
  std::vector<int> dp_ranks;      // from "@rank", ascending; empty without ranks
  bool healthy_by_router = true;  // as the router reports; true if it does not report
  std::string found_in;           // "router http://...: /workers", "launch.log:120", ...
  std::optional<BehindRouter> in_place_of = {};  // set if this is a router that stands for engines
};

// How an engine's profiler can be started, and how it is configured.
struct ProfilerFacts {
  bool has_http = false;  // POST /start_profile exists
  // The start request's body is read. vLLM: its prefix and limits; SGLang: always true.
  bool reads_body = false;
  bool reads_profile_id = false;  // SGLang from 0.5.15
  // vLLM: its /openapi.json lists profiler_kwargs. vLLM's Rust front end does not list this field,
  // and ignores it.
  bool reads_kwargs = false;
  // A process of this engine is set up to poll Kineto's daemon (only seen on this host).
  bool has_daemon = false;
  // Runs below nsys launch --session-new=NAME (only seen on this host).
  bool launched_by_nsys = false;
  // The profiler configuration, as far as the engine or its command line shows it; otherwise
  // absent. vLLM reports it only in its developer mode.
  std::optional<std::string> kind;  // "torch", "cuda", "proton"
  std::optional<std::string> folder;
  std::optional<bool> with_stack, record_shapes, use_gzip, ignore_frontend, dump_table,
      captures_graphs;
  std::optional<int64_t> delay_iterations, max_iterations, wait_iterations, warmup_iterations,
      active_iterations;
};

// What a probe learned about one engine. A value that the engine does not report is absent.
struct EngineFacts {
  EngineKind kind = EngineKind::kUnknown;
  std::string version;  // "0.32.0"; "" if not reported
  std::string model;    // the name that requests must carry
  // The model's folder on the engine's host, or its name in a hub; "" if not reported.
  std::string model_root;
  std::optional<int64_t> max_model_len;
  // Each of them, and their product, lies between 1 and kMostRanks.
  std::optional<int> tensor_parallel, pipeline_parallel, data_parallel;
  // A reported size out of those bounds: "tensor parallel 100000000"; or "".
  std::string not_believed;
  // The number formats that the engine was told, in its own words; "" if not reported.
  std::string dtype, quantization, kv_cache_dtype;
  std::optional<bool> asleep;
  std::optional<int> sleep_level;  // vLLM's, while it sleeps; at level 2 it has dropped its weights
  bool has_metrics = false;
  std::string device;  // SGLang: "cuda", "cpu", ...; "" if not reported
  ProfilerFacts profiler;
  EngineInstance instance;
  // The engine's clock minus ours, from its Date header (whole seconds) or from time stamps; and
  // the largest possible error of that difference.
  std::optional<int64_t> clock_offset_ns, clock_error_ns;
  int64_t round_trip_ns = 0;  // how long the fastest probe took

  // The number of files that a session leaves: one for each rank of all engines behind this server.
  // Absent if the parallel sizes are not reported.
  std::optional<int> ExpectedRanks() const;
};

}  // namespace tacho

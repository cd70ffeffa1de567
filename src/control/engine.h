#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

inline constexpr std::chrono::milliseconds kProbePatience{30'000};  // a busy server answers slowly
// How long one question to an engine may take where the user allows `allowed` for each answer; 0:
// as long as it takes, which is meant for a flush.
constexpr std::chrono::milliseconds ProbePatience(std::chrono::milliseconds allowed) {
  return allowed.count() > 0 ? std::min(allowed, kProbePatience) : kProbePatience;
}

enum class EngineKind { kUnknown, kVllm, kSglang };
enum class WorkerRole { kRegular, kPrefill, kDecode };

// One server that holds an engine, as discovery found it. A router's "@rank" entries of one server
// are one Worker.
struct Worker {
  std::string url;  // "http://10.0.0.5:8000": no path, no rank, no slash at the end
  WorkerRole role = WorkerRole::kRegular;
  std::vector<int> dp_ranks;      // from "@rank", ascending; empty when the list had none
  bool healthy_by_router = true;  // what the router says; true where no router said anything
  std::string found_in;           // "router http://...: /workers", "launch.log:120", ...
};

// How an engine can be told to profile.
struct ProfilerFacts {
  bool has_http = false;          // POST /start_profile exists
  bool reads_body = false;        // vLLM: prefix and limits are read; SGLang: always true
  bool reads_profile_id = false;  // SGLang from 0.5.15
  bool has_daemon = false;  // a process of this engine asked our Kineto daemon (this host only)
  // What the engine told of its configuration; absent where it did not (needs its developer mode).
  std::optional<std::string> kind;  // "torch", "cuda", "proton"
  std::optional<std::string> folder;
  std::optional<bool> with_stack, record_shapes, use_gzip, ignore_frontend, dump_table;
  std::optional<int64_t> delay_iterations, max_iterations, wait_iterations, warmup_iterations,
      active_iterations;
};

// What a probe could learn of one engine. Nothing is assumed: what it did not tell is absent.
struct EngineFacts {
  EngineKind kind = EngineKind::kUnknown;
  std::string version;  // "0.32.0", "" when not told
  std::string model;    // the name that requests must carry
  std::optional<int64_t> max_model_len;
  std::optional<int> tensor_parallel, pipeline_parallel, data_parallel;
  std::optional<bool> asleep;
  bool has_metrics = false;
  std::string device;  // SGLang: "cuda", "cpu", ...; "" when not told
  ProfilerFacts profiler;
  // An id of the process that stays while it lives, after the way it was told: "id:... start:..."
  // (vLLM's developer mode, and its metrics), "start:..." (metrics), "pid:..." (of this host). ""
  // when none was told.
  std::string instance;
  // Difference of the engine's clock to ours, from its Date header (whole seconds) or time stamps;
  // and how exact that is.
  std::optional<int64_t> clock_offset_ns, clock_error_ns;
  int64_t round_trip_ns = 0;  // of the quickest probe

  // Files that one session must leave: ranks of all engines behind this server. Absent when the
  // parallel sizes were not told.
  std::optional<int> ExpectedRanks() const;
};

}  // namespace tacho

#pragma once

#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "control/version.h"

namespace tacho {

// Where in a log a rule applies: all conditions that are set must hold.
struct LogPlace {
  bool profiling = false;  // between start and stop of a session
  bool profiler = false;   // the line, or the traceback that it ends, is the profiler's
  bool starting = false, stopping = false;  // it has begun and not ended
  bool cause = false;  // the line is the first failure of the engine's end, or what it led to
  bool nsys = false, gpu = false, npu = false;
};

// A line of rules/logs.rules.
struct LogRule {
  FindingId id;
  std::string_view engine;  // "vllm", "sglang", "any"
  VersionRange versions;
  LogPlace when;
  bool by_code = false;  // no words: see log_checks.cc
  std::vector<std::string_view> words, without;
  std::string_view meaning, remedy;

  [[nodiscard]] bool Matches(std::string_view line, const LogPlace& place) const;
  // kUnknown stands for any engine.
  [[nodiscard]] bool IsFor(EngineKind kind, const std::optional<Version>& version) const;
};
const std::vector<LogRule>& LogRules();

}  // namespace tacho

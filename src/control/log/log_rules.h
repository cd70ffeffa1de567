#pragma once

#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "control/log/log_signs.h"
#include "control/version.h"

namespace tacho {

// The place in a log where a rule applies: all conditions that are set must hold.
struct LogPlace {
  bool profiling = false;  // between start and stop of a session
  bool profiler = false;   // the line, or the traceback that it ends, is the profiler's
  bool starting = false, stopping = false;  // a start or a stop has begun and not ended
  bool cause = false;  // the failure that ended the engine, or what it led to; not any other line
  bool nsys = false, gpu = false, npu = false;
};

// Patterns of lines. A pattern fits a line that holds all of its `words` and none of `without`.
struct LogPatterns {
  struct Pattern {
    std::vector<std::string_view> words, without;
  };
  std::vector<Pattern> patterns;
  [[nodiscard]] bool Fit(std::string_view line) const;
};

// A finding of rules/logs.rules.
struct LogRule {
  struct Remedy {
    std::string_view engine;  // "vllm", "sglang", "" for any
    VersionRange versions;
    std::string_view text;
  };
  FindingId id;
  LogPlace when;
  bool by_code = false;  // no patterns: see log_checks.cc
  std::string_view meaning;
  std::vector<Remedy> remedies;
  LogPatterns patterns;

  [[nodiscard]] bool Matches(std::string_view line, const LogPlace& place) const;
  // The first remedy that fits; nullptr if no remedy does. kUnknown stands for any engine.
  [[nodiscard]] const Remedy* RemedyFor(EngineKind kind,
                                        const std::optional<Version>& version) const;
};

// rules/logs.rules
struct LogTable {
  std::vector<LogRule> findings;
  std::vector<std::pair<LogSign, LogPatterns>> signs;
  std::vector<std::pair<std::string_view, LogPatterns>> phases;
};
const LogTable& TheLogTable();

}  // namespace tacho

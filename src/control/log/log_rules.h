#pragma once

#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "control/log/log_signs.h"
#include "control/version.h"

namespace tacho {

// The circumstances in which a rule applies, or in which a line stands. A rule applies to a line if
// every condition that the rule sets also holds for the line.
struct LogPlace {
  bool profiling = false;  // between the start and the stop of a session
  bool profiler = false;   // the line belongs to the profiler, or ends a traceback that does
  bool starting = false, stopping = false;  // a start or a stop has begun and not ended
  bool cause = false;  // only the failure that ended the engine, or what that failure led to
  bool nsys = false, gpu = false, npu = false;
};

// Patterns of lines. A pattern fits a line that contains all of its `words` and none of `without`.
struct LogPatterns {
  struct Pattern {
    std::vector<std::string_view> words, without;
  };
  std::vector<Pattern> patterns;
  [[nodiscard]] bool Fit(std::string_view line) const;
};

// One finding in rules/logs.rules, and when it applies.
struct LogRule {
  struct Remedy {
    std::string_view engine;  // "vllm", "sglang"; "" for any engine
    VersionRange versions;
    std::string_view text;
  };
  FindingId id;
  LogPlace when;
  bool by_code = false;  // has no patterns: log_checks.cc finds it
  std::string_view meaning;
  std::vector<Remedy> remedies;
  LogPatterns patterns;

  [[nodiscard]] bool Matches(std::string_view line, const LogPlace& place) const;
  // The first remedy that fits; nullptr if none does. kUnknown fits the remedies for any engine.
  [[nodiscard]] const Remedy* RemedyFor(EngineKind kind,
                                        const std::optional<Version>& version) const;
};

// The content of rules/logs.rules.
struct LogTable {
  std::vector<LogRule> findings;
  std::vector<std::pair<LogSign, LogPatterns>> signs;
  std::vector<std::pair<std::string_view, LogPatterns>> phases;
};
const LogTable& TheLogTable();

}  // namespace tacho

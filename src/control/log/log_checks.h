#pragma once

#include <cstdint>
#include <stop_token>
#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "control/log/engine_failure.h"

namespace tacho {

// What the log of vLLM, SGLang, a router or nsys reports.
struct LogReport {
  LogFailures failures;
  // The profiling failures: each kind once, in the order of their first lines. If the engine ended,
  // a finding is about its first line among those that report the end, if there is one. The
  // evidence says what the failure means, names the line (counted from 1) and the process, and
  // quotes at most 300 bytes of the line. The remedy fits the version. Subjects are empty: the
  // caller fills them in.
  std::vector<Finding> findings;
  std::vector<uint64_t> lines;  // of the findings, in their order
  EngineKind engine = EngineKind::kUnknown;
  bool is_known = false;  // an engine, a router or nsys wrote a line of it
};

// If kind is kUnknown or version is "", they are taken from the log if it names them (SGLang's does
// not name its version); otherwise the rules for every engine and for the newest version apply.
// Lines that hold requests are skipped: a prompt says nothing about an engine.
// `log` is untrusted text from any source. Cost: one pass, 20 to 40 MB/s (a busy machine); memory
// does not grow with the log. Patterns and remedies are in rules/logs.rules. `lines_before`: the
// number of lines before `log`, if `log` is only the last part of a log. `stop` ends the reading.
LogReport ReadLog(EngineKind kind, std::string_view version, std::string_view log,
                  uint64_t lines_before = 0, const std::stop_token& stop = {});

}  // namespace tacho

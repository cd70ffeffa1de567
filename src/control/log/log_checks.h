#pragma once

#include <cstdint>
#include <stop_token>
#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "control/log/engine_failure.h"

namespace tacho {

// What a log of vLLM, SGLang, a router or nsys reports.
struct LogReport {
  LogFailures failures;
  // The failures of profiling: one finding of each kind, in the order of their first lines. A
  // finding is about the first line that matches; if the engine ended and a line that reports the
  // end matches, it is about that line. The evidence says what the failure means, names the line
  // (counted from 1) and the process, and quotes at most 300 bytes of the line. The remedy fits the
  // version. Subjects are empty: the caller sets them.
  std::vector<Finding> findings;
  std::vector<uint64_t> lines;  // the lines of the findings, in the same order
  EngineKind engine = EngineKind::kUnknown;
  bool is_known = false;  // an engine, a router or nsys wrote at least one of its lines
};

// Finds the failures of profiling in a log, by the patterns and remedies in rules/logs.rules. If
// `kind` is kUnknown or `version` is "", takes it from the log if the log names it (SGLang's does
// not name its version); otherwise the rules for any engine and for the newest version apply. Skips
// lines that quote requests, because a prompt says nothing about an engine.
// `log` is untrusted text from any source. `lines_before`: the number of earlier lines, if `log` is
// only the last part of a log. `stop` ends the reading. Cost: one pass, 20 to 40 MB/s (on a busy
// machine); memory does not grow with the log.
LogReport ReadLog(EngineKind kind, std::string_view version, std::string_view log,
                  uint64_t lines_before = 0, const std::stop_token& stop = {});

}  // namespace tacho

#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "control/log/engine_failure.h"

namespace tacho {

// The failures of profiling that the log of a vLLM, an SGLang, a router or nsys shows: each kind
// once, in the order of first lines. The evidence says what it means, where its first line is (from
// 1, with the process) and the line itself, at most 300 bytes; the remedy is that of the version.
// Subjects are empty: they are the caller's.
//
// What is not known may be left out: kind kUnknown and version "" are taken from the log where it
// names them (SGLang's does not name its version), else they are that of every engine and of the
// newest version. Lines that hold requests are not read: a prompt says nothing about an engine.
// `log` is text from any source; nothing of it is taken on trust. Cost: one pass, 20 to 40 MB/s (a
// busy machine); memory does not grow with the log. Patterns and remedies are in rules/logs.rules.
// `lines_before`: of the log, if `log` is but its last part. `origin` gets whose log it is. A
// `stop` ends the reading.
// `end`: of a kind's lines the first that tells of this end counts, if one does.
struct LogOrigin {
  EngineKind engine = EngineKind::kUnknown;
  bool is_known = false;        // some line is of an engine, a router or nsys
  std::vector<uint64_t> lines;  // the first of each finding, in their order
};
std::vector<Finding> CheckLog(EngineKind kind, std::string_view version, std::string_view log,
                              uint64_t lines_before = 0, LogOrigin* origin = nullptr,
                              const std::stop_token& stop = {},
                              const std::optional<EngineEnd>& end = {});

}  // namespace tacho

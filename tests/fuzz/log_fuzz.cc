// The log of an engine: any text gives findings whose evidence is bounded and can be shown, and no
// line in front of a log changes more than the lines' numbers.

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "control/log/engine_failure.h"
#include "control/log/log_checks.h"

using tacho::EngineKind;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string log(reinterpret_cast<const char*>(data), size);
  const auto failures = tacho::ReadFailures(log);
  if (failures.end &&
      (failures.end->cause.line == 0 || failures.end->last_line < failures.end->cause.line))
    std::abort();
  // One kind an input: each is a pass.
  const EngineKind kind =
      std::array{EngineKind::kUnknown, EngineKind::kVllm, EngineKind::kSglang}[size % 3];
  const std::string_view version = size % 2 == 0 ? "" : "0.12.0";
  const auto findings = tacho::CheckLog(kind, version, log, 0, nullptr, {}, failures.end);
  for (const tacho::Finding& finding : findings)
    if (finding.remedy.empty() || finding.evidence.size() > 3000 ||
        !tacho::IsUtf8(finding.evidence))
      std::abort();
  const auto end = tacho::ReadFailures("\n" + log).end;
  if (end.has_value() != failures.end.has_value() ||
      tacho::CheckLog(kind, version, "\n" + log, 0, nullptr, {}, end).size() != findings.size())
    std::abort();
  return 0;
}

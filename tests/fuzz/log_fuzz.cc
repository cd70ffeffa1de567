// The log of an engine: any text gives findings whose evidence is bounded and can be shown, and no
// line in front of a log changes more than the lines' numbers.

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "control/log/log_checks.h"

using tacho::EngineKind;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string log(reinterpret_cast<const char*>(data), size);
  // One kind an input: each is a pass.
  const EngineKind kind =
      std::array{EngineKind::kUnknown, EngineKind::kVllm, EngineKind::kSglang}[size % 3];
  const std::string_view version = size % 2 == 0 ? "" : "0.12.0";
  const tacho::LogReport report = tacho::ReadLog(kind, version, log);
  const auto& end = report.failures.end;
  if (end && (end->cause.line == 0 || end->last_line < end->cause.line)) std::abort();
  for (const tacho::Finding& finding : report.findings)
    if (finding.remedy.empty() || finding.evidence.size() > 3000 ||
        !tacho::IsUtf8(finding.evidence))
      std::abort();
  const tacho::LogReport later = tacho::ReadLog(kind, version, "\n" + log);
  if (later.failures.end.has_value() != end.has_value() ||
      later.findings.size() != report.findings.size())
    std::abort();
  return 0;
}

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "control/engine_type.h"
#include "control/log/engine_failure.h"
#include "control/log/log_checks.h"
#include "control/version.h"
#include "doctor/doctor_looks.h"
#include "io/block_stream.h"

namespace tacho {
namespace {

// Findings in a log that can be what ended an engine.
constexpr std::array<FindingId, 17> kEndAnEngine{
    FindingId::kNeedsGpu,           FindingId::kProfilerV2,       FindingId::kPortInUse,
    FindingId::kConfigKeyUnknown,   FindingId::kConfigUnreadable, FindingId::kConfigContradicts,
    FindingId::kVariableNotParsed,  FindingId::kDiskFull,         FindingId::kTraceFolderBad,
    FindingId::kStackReplay,        FindingId::kLaunchFailed,     FindingId::kGpuMemoryFull,
    FindingId::kCollectiveTimedOut, FindingId::kWorkerKilled,     FindingId::kCrashWhileProfiled,
    FindingId::kFlushTimedOut,      FindingId::kEngineDied};

bool CanEndAnEngine(FindingId id) {
  return std::ranges::find(kEndAnEngine, id) != kEndAnEngine.end();
}

struct LogPart {
  std::string text;  // decompressed
  uint64_t lines_before = 0;
  std::string defect;  // why the file ends too early; "" if it is complete
};

// Reads the last `most` bytes of a log: an engine's end is reported near the end of its log.
Result<LogPart> ReadLogPart(const std::string& path, size_t most, const std::stop_token& stop) {
  TACHO_ASSIGN_OR_RETURN(const auto stream, OpenStream(path, StreamThreads::kInline));
  LogPart part;
  const size_t room = most + most / 4;  // more than `most`, so that the kept part is rarely moved
  std::error_code unknown;
  const uintmax_t stored = std::filesystem::file_size(path, unknown);
  if (!unknown) part.text.reserve(std::min<uintmax_t>(stored, room));
  const auto drop = [&] {
    if (part.text.size() <= most) return;
    const auto end = part.text.end() - static_cast<std::ptrdiff_t>(most);
    part.lines_before += static_cast<uint64_t>(std::count(part.text.begin(), end, '\n'));
    part.text.erase(part.text.begin(), end);
  };
  for (Block block = stream->Next(); block.size > 0 && !stop.stop_requested();
       block = stream->Next()) {
    if (part.text.empty() &&
        std::string_view(block.data, block.size).substr(0, 1 << 16).find('\0') != std::string::npos)
      return FailAt(ErrorKind::kUnreadable, path,
                    "neither a log nor a trace: it holds binary data");
    if (part.text.size() + block.size > room) drop();
    part.text.append(block.data, block.size);
  }
  drop();
  // If the log grows while it is read, that is no defect.
  if (stream->defect() == StreamDefect::kTruncated || stream->defect() == StreamDefect::kCorrupt)
    part.defect = stream->defect_text();
  return part;
}

// The index of the finding that says what ended the engine: one about a line of that failure, else
// the last one before the lines that report the end. findings.size() if there is none.
size_t CauseAmong(const std::vector<Finding>& findings, const std::vector<uint64_t>& lines,
                  const EngineEnd& end) {
  size_t nearest = findings.size();
  for (size_t i = 0; i < findings.size(); ++i) {
    if (!CanEndAnEngine(findings[i].id)) continue;
    if (lines[i] >= end.cause.first_line && lines[i] <= end.cause.last_line) return i;
    if (lines[i] > end.alive_until && lines[i] <= end.last_line) nearest = i;
  }
  return nearest;
}

Diagnosis Unnamed(const EngineFailure& failure, bool died, const std::string& path) {
  std::string words = failure.text;
  if (failure.led_line > 0)
    words += fmt::format("; it led to line {}: {}", failure.led_line, failure.led_to);
  std::ranges::replace(words, '\n', ' ');
  Diagnosis diagnosis =
      DiagnosisOf({died ? FindingId::kEngineDied : FindingId::kLogFailure, path,
                   fmt::format("its first failure is in line {}{}: {}", failure.line,
                               failure.process.empty() ? "" : ", of " + failure.process, words),
                   died ? "correct what this line names; tacho knows no remedy for it" : ""});
  if (died) diagnosis.severity = FindingSeverity::kBlocking;
  return diagnosis;
}

}  // namespace

Result<void> ExamineLog(const std::string& path, const std::string& engine,
                        const std::string& version, const std::stop_token& stop,
                        Examination& examination, size_t most) {
  TACHO_ASSIGN_OR_RETURN(const LogPart part, ReadLogPart(path, most, stop));
  const EngineKind kind = KindNamed(engine);
  const LogReport report = ReadLog(kind, version, part.text, part.lines_before, stop);
  const std::vector<Finding>& findings = report.findings;
  const LogFailures& failures = report.failures;
  const std::optional<EngineEnd>& end = failures.end;
  const std::optional<EngineFailure> failure = end ? end->cause : failures.first;
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  if (IsKnown(report.engine)) examination.engines.emplace(NameOf(report.engine));
  if (!report.is_known && findings.empty()) {
    examination.looked.push_back(
        {Look::kLog, path, "no line of it is an engine's, a router's or nsys's", true});
    return {};
  }
  examination.looked.push_back({Look::kLog, path, part.defect, !part.defect.empty()});
  const size_t cause = end ? CauseAmong(findings, report.lines, *end) : findings.size();
  bool is_named = false;  // a finding is about the failure's own lines
  for (size_t i = 0; i < findings.size(); ++i) {
    Diagnosis diagnosis = DiagnosisOf(findings[i]);
    diagnosis.subject = path;
    const uint64_t line = report.lines[i];
    if (i == cause) {
      diagnosis.severity = FindingSeverity::kBlocking;
      is_named |= line <= failure->last_line;
    } else if (failure && !end) {
      is_named |= line >= failure->first_line && line <= failure->last_line;
    }
    if (!end && line < failures.ready && CanEndAnEngine(findings[i].id)) {
      diagnosis.severity = std::min(diagnosis.severity, FindingSeverity::kNotice);
      diagnosis.evidence += fmt::format("; the engine was ready again in line {}", failures.ready);
    }
    examination.Add(std::move(diagnosis));
  }
  if (failure && !is_named) examination.Add(Unnamed(*failure, end.has_value(), path));
  return {};
}

}  // namespace tacho

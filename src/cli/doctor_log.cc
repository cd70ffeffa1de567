#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "cli/doctor_looks.h"
#include "control/engine_failure.h"
#include "control/log_checks.h"
#include "control/version.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Findings of a log that can be the cause of an engine's end.
constexpr std::array<FindingId, 16> kEndAnEngine{
    FindingId::kNeedsGpu,           FindingId::kProfilerV2,       FindingId::kPortInUse,
    FindingId::kConfigKeyUnknown,   FindingId::kConfigUnreadable, FindingId::kConfigContradicts,
    FindingId::kVariableNotParsed,  FindingId::kDiskFull,         FindingId::kTraceFolderBad,
    FindingId::kStackReplay,        FindingId::kLaunchFailed,     FindingId::kGpuMemoryFull,
    FindingId::kCollectiveTimedOut, FindingId::kWorkerKilled,     FindingId::kCrashWhileProfiled,
    FindingId::kFlushTimedOut};

bool CanEndAnEngine(FindingId id) {
  return std::ranges::find(kEndAnEngine, id) != kEndAnEngine.end();
}

// How many lines end in the first bytes of a file, as far as `stop` lets it read.
uint64_t LinesIn(std::ifstream& file, size_t bytes, const std::stop_token& stop) {
  uint64_t lines = 0;
  std::string block(size_t{1} << 20, '\0');
  file.clear();
  file.seekg(0);
  while (bytes > 0 && !stop.stop_requested() &&
         file.read(block.data(), static_cast<std::streamsize>(std::min(bytes, block.size())))) {
    const auto got = static_cast<size_t>(file.gcount());
    lines += static_cast<uint64_t>(
        std::count(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(got), '\n'));
    bytes -= got;
  }
  return lines;
}

// The finding that names what ended the engine: in the failure's own lines, else the last before
// the words of its end. findings.size(): none does.
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
  std::ifstream file(path, std::ios::binary);
  std::string text;
  size_t skipped = 0;
  if (file) {
    std::error_code failed;
    const auto size = fs::file_size(path, failed);
    // An engine's end is near that of its log: of a larger log the last part is read.
    if (!failed && size > most) skipped = size - most;
    file.seekg(static_cast<std::streamoff>(skipped));
    text.resize(failed ? 0 : std::min<size_t>(size, most));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  }
  if (!file && text.empty())
    return Fail(ErrorKind::kUnreadable, fmt::format("{}: it cannot be read", path));
  if (text.substr(0, 1 << 16).find('\0') != std::string::npos)
    return Fail(ErrorKind::kUnreadable,
                fmt::format("{}: neither a log nor a trace: it holds binary data", path));
  const EngineKind kind = engine == "vllm"     ? EngineKind::kVllm
                          : engine == "sglang" ? EngineKind::kSglang
                                               : EngineKind::kUnknown;
  const uint64_t lines_before = LinesIn(file, skipped, stop);
  const LogFailures failures = ReadFailures(text, lines_before, stop);
  const std::optional<EngineEnd>& end = failures.end;
  const std::optional<EngineFailure> failure = end ? end->cause : failures.first;
  LogOrigin origin;
  const std::vector<Finding> findings =
      CheckLog(kind, version, text, lines_before, &origin, stop, end);
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  if (origin.engine != EngineKind::kUnknown) examination.engines.emplace(NameOf(origin.engine));
  if (!origin.is_known && findings.empty()) {
    examination.looked.push_back(
        {Look::kLog, path, "no line of it is an engine's, a router's or nsys's", true});
    return {};
  }
  examination.looked.push_back({Look::kLog, path});
  const size_t cause = end ? CauseAmong(findings, origin.lines, *end) : findings.size();
  bool is_named = false;  // by a check that knows its lines
  for (size_t i = 0; i < findings.size(); ++i) {
    Diagnosis diagnosis = DiagnosisOf(findings[i]);
    diagnosis.subject = path;
    const uint64_t line = origin.lines[i];
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

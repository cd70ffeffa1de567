// Reads what an export says about its recording: versions, names, devices, warnings, times.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/parse_number.h"
#include "ingest/nsys_sqlite/export_reader.h"

namespace tacho::nsys {
namespace {

// The newest schema for which we have read real files (FORMAT.md).
constexpr int64_t kKnownMajor = 3, kKnownMinor = 25;

// Limits, in bytes, for texts that are copied to each process: for one text and for all. Real texts
// have some 100 bytes, and some kB in all.
constexpr size_t kLongestText = 1000;
constexpr size_t kMostText = 64 << 10;

using Names = std::array<std::string_view, 2>;
constexpr Names kNameAndValue{"name", "value"};

}  // namespace

// Copies all of META_DATA_EXPORT (EXPORT_META_DATA until schema 3) into the header.
Result<void> Recording::ReadVersion() {
  const bool is_old = schema_.Has("EXPORT_META_DATA");
  int64_t major = -1, minor = -1;
  bool is_shifted = false;
  std::string version;
  size_t room = kMostText;
  Each(is_old ? "EXPORT_META_DATA" : "META_DATA_EXPORT", kNameAndValue, [&](const TableScan& row) {
    const std::string name(row.Text(0)), value(row.Text(1));
    const auto number = ParseWhole<int64_t>(value);
    if (name == "EXPORT_SCHEMA_VERSION") version = value;
    if (name == "EXPORT_SCHEMA_VERSION_MAJOR") major = number.value_or(-1);
    if (name == "EXPORT_SCHEMA_VERSION_MINOR") minor = number.value_or(-1);
    is_shifted = is_shifted || (name == "EXPORT_PARAM_TIME_SHIFT" && number != 0) ||
                 (name == "EXPORT_PARAM_TIME_NORMALIZE" && value != "false");
    if (!name.starts_with("EXPORT_") || name.size() > kLongestText) return;
    const std::string json = QuoteJson(value.substr(0, kLongestText));
    if (name.size() + json.size() > room) return;
    room -= name.size() + json.size();
    header_.fields.emplace_back(name, json);
  });
  if (major > kKnownMajor) {
    return Fail(ErrorKind::kUnreadable,
                "is an export of schema " + version.substr(0, 40) +
                    ", which is newer than this tacho: it reads schemas up to 3; update tacho, or "
                    "export the report with an older nsys");
  }
  if (major < 0 || (major == kKnownMajor && minor > kKnownMinor)) {
    common_.Add(NoteId::kUnknownSchema, major < 0 ? "no version" : "schema " + version);
  }
  if (is_shifted) return {};
  static constexpr std::array<std::string_view, 1> kStarted{"utcEpochNs"};
  Each("TARGET_INFO_SESSION_START_TIME", kStarted, [&](const TableScan& row) {
    const auto start = row.Maybe(0);
    if (start && *start > 0 && header_.base_time_ns < 0) header_.base_time_ns = *start;
  });
  return {};
}

void Recording::ReadFacts() {
  ReadSystem();
  ReadDiagnostics();
  std::vector<EventSink*> sinks;
  if (processes_.empty()) sinks.push_back(&options_.next_sink(""));
  for (const auto& [key, process] : processes_) sinks.push_back(&process->sink());
  for (EventSink* const sink : sinks) FillHeader(*sink);
  ReadNames();
  ReadDevices();
  ReadSession();
  if (!names_.damage().empty()) common_.Add(NoteId::kDamagedTable, names_.damage());
  // This comes last, because each table may add a note.
  for (EventSink* const sink : sinks) {
    for (const Note& note : common_.list()) sink->notes().Add(note.id, note.where, note.count);
  }
}

// Fills in the part of the header that all processes share.
void Recording::FillHeader(EventSink& sink) {
  std::vector<std::string> own = std::move(sink.header().producer_log);
  sink.header() = header_;
  std::ranges::move(own, std::back_inserter(sink.header().producer_log));
}

void Recording::ReadSystem() {
  Each("TARGET_INFO_SYSTEM_ENV", kNameAndValue, [&](const TableScan& row) {
    if (row.Text(0) != "CudaDriverVersion") return;
    const auto version = ParseWhole<int64_t>(row.Text(1));  // 13020 means 13.2
    if (version && *version > 0)
      header_.cuda_driver_version = fmt::format("{}.{}", *version / 1000, *version % 1000 / 10);
  });
}

// Reads the profiler's warnings and errors about a process or about the whole recording. Leaves out
// those about a process without a trace.
void Recording::ReadDiagnostics() {
  static constexpr std::array<std::string_view, 3> kColumns{"severity", "text", "globalPid"};
  constexpr int64_t kWarning = 2, kError = 3;  // ENUM_DIAGNOSTIC_SEVERITY_LEVEL
  constexpr size_t kMostLines = 1000;
  size_t room = kMostText;  // bytes left for lines about the whole recording
  Each("DIAGNOSTIC_EVENT", kColumns, [&](const TableScan& row) {
    const int64_t severity = row.Integer(0);
    if (severity != kWarning && severity != kError) return;
    const int64_t global = row.Integer(2);
    const auto process = processes_.find(ProcessKey(global));
    if (process == processes_.end() && PidOf(global) != 0 && !processes_.empty()) return;
    TraceHeader& header = process == processes_.end() ? header_ : process->second->sink().header();
    const std::string_view line = row.Text(1).substr(0, kLongestText);
    const bool is_common = &header == &header_;
    if (header.producer_log.size() == kMostLines || (is_common && line.size() > room)) return;
    if (is_common) room -= line.size();
    header.producer_log.emplace_back(line);
  });
}

void Recording::ReadNames() {
  const auto process_of = [&](const TableScan& row, int column) -> RecordedProcess* {
    const auto global = row.Maybe(column);
    const auto found = global ? processes_.find(ProcessKey(*global)) : processes_.end();
    return found == processes_.end() ? nullptr : found->second.get();
  };
  static constexpr std::array<std::string_view, 2> kOfProcess{"globalPid", "name"};
  Each("PROCESSES", kOfProcess, [&](const TableScan& row) {
    RecordedProcess* const process = process_of(row, 0);
    if (process != nullptr) process->words()[process->id()].name = process->Intern(row.Text(1));
  });
  static constexpr std::array<std::string_view, 2> kOfThread{"globalTid", "nameId"};
  Each("ThreadNames", kOfThread, [&](const TableScan& row) {
    RecordedProcess* const process = process_of(row, 0);
    if (process == nullptr) return;
    // Read the name even for a thread without rows: a reader that only sums up times knows no
    // threads, and must give the same notes.
    const StringId name = process->Name(row.Integer(1), row.place());
    const auto thread = process->threads().find(TidOf(row.Integer(0)));
    if (thread != process->threads().end()) process->words()[thread->second].name = name;
  });
}

// Reads the machine's GPUs, with the numbers by which each process knows them.
void Recording::ReadDevices() {
  // pid -> GPU -> the process's number of it.
  std::map<int64_t, std::map<int64_t, int64_t>> numbers;
  static constexpr std::array<std::string_view, 3> kNumbers{"pid", "gpuId", "cudaId"};
  Each("TARGET_INFO_CUDA_DEVICE", kNumbers, [&](const TableScan& row) {
    numbers[row.Integer(0)].try_emplace(row.Integer(1), row.Integer(2));
  });
  static constexpr std::array<std::string_view, 7> kGpu{
      "id", "name", "totalMemory", "smCount", "computeMajor", "computeMinor", "cuDevice"};
  constexpr size_t kMostDevices = 256, kLongestName = 100;
  Each("TARGET_INFO_GPU", kGpu, [&](const TableScan& row) {
    for (const auto& [key, process] : processes_) {
      std::vector<DeviceProperties>& devices = process->sink().header().devices;
      if (!process->uses_cuda || devices.size() == kMostDevices) continue;
      std::optional<int64_t> number = row.Maybe(6);
      if (const auto known = numbers.find(PidOf(key << 24)); known != numbers.end()) {
        const auto of_gpu = known->second.find(row.Integer(0));
        number = of_gpu == known->second.end() ? std::nullopt : std::optional(of_gpu->second);
      }
      if (!number) continue;  // the process cannot see this GPU
      devices.push_back({.id = std::to_string(*number),
                         .name = std::string(row.Text(1).substr(0, kLongestName)),
                         .total_memory_bytes = row.Integer(2),
                         .num_sms = row.Integer(3),
                         .compute_major = row.Integer(4),
                         .compute_minor = row.Integer(5)});
    }
  });
}

// Adds an event for the time in which the profiler ran. It begins at 0.
void Recording::ReadSession() {
  constexpr std::string_view kTable = "ANALYSIS_DETAILS";
  static constexpr std::array<std::string_view, 2> kColumns{"", "duration"};
  // Exports have one row; each further row would add an event to each process.
  bool is_first = true;
  Each(kTable, kColumns, [&](const TableScan& row) {
    if (!std::exchange(is_first, false)) return;
    for (const auto& [key, process] : processes_) {
      Event event;
      event.has_category = true;
      event.category = process->Category("Trace");
      event.name = process->Intern("Nsight Systems");
      event.track = process->Session();
      event.duration = {row.Integer(1)};
      event.has_start = event.duration.ns > 0 && event.duration.ns <= kLongestDuration;
      args_.Clear();
      if (event.has_start) process->Emit(kTable, event, args_);
    }
  });
}

}  // namespace tacho::nsys

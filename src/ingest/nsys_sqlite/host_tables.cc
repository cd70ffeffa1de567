// Reads the tables of an export with CUDA calls, system calls, and the profiler's own time.
#include <array>

#include "ingest/nsys_sqlite/export_reader.h"
#include "ingest/nsys_sqlite/nsys_names.h"

namespace tacho::nsys {
namespace {

struct KnownCall {
  StringId name = StringId::kEmpty;
  int64_t version = -1;
  bool waits = false;
};

KnownCall KnowCall(RecordedProcess& process, StringId full) {
  const CallName split = SplitCallName(process.words()[full]);
  KnownCall call{.name = full, .version = split.version};
  if (split.version >= 0) call.name = process.Intern(std::string(split.name));
  const std::string_view name = process.words()[call.name];
  for (const std::string_view part : {"Synchronize", "WaitEvent", "EventQuery", "StreamQuery"}) {
    call.waits = call.waits || name.find(part) != std::string_view::npos;
  }
  return call;
}

}  // namespace

void Recording::ReadCalls() {
  enum { kThread = 2, kName, kCallCorrelation, kClass, kResult, kColumnCount };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{
      "start", "end", "globalTid", "nameId", "correlationId", "eventClass", "returnValue"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
  constexpr int64_t kDriver = 1;  // ENUM_NSYS_EVENT_CLASS
  std::map<std::pair<RecordedProcess*, int64_t>, KnownCall> names;
  Each(kTable, kColumns, [&](const TableScan& row) {
    Event event;
    const bool is_driver = row.Integer(kClass) == kDriver;
    RecordedProcess* const process =
        BeginHostRow(row, kThread, is_driver ? "cuda_driver" : "cuda_runtime", event);
    if (process == nullptr) return;
    process->uses_cuda = true;
    const auto [call, added] = names.try_emplace({process, row.Integer(kName)});
    if (added) call->second = KnowCall(*process, process->Name(row.Integer(kName), row.place()));
    event.name = call->second.name;
    ReadTimes(row, event, process->notes());
    const int64_t correlation = row.Integer(kCallCorrelation);
    if (correlation > 0) {
      event.correlation = correlation;
      args_.Correlation(correlation);
      if (call->second.waits) process->waits.emplace_back(correlation, event.name);
    }
    const auto result = options_.parts.rest ? row.Maybe(kResult) : std::nullopt;
    if (result) args_.Integer("return value", *result);
    if (call->second.version >= 0) args_.Integer("version", call->second.version);
    process->Emit(kTable, event, args_);
  });
}

void Recording::ReadOsCalls() {
  enum { kThread = 2, kName, kClass, kResult, kLevel, kColumnCount };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{
      "start", "end", "globalTid", "nameId", "eventClass", "returnValue", "nestingLevel"};
  constexpr std::string_view kTable = "OSRT_API";
  Each(kTable, kColumns, [&](const TableScan& row) {
    Event event;
    RecordedProcess* const process = BeginHostRow(row, kThread, "osrt", event);
    if (process == nullptr) return;
    event.name = process->Name(row.Integer(kName), row.place());
    ReadTimes(row, event, process->notes());
    if (const int64_t of = row.Integer(kClass); of != kOsCall) args_.Integer("event class", of);
    if (const auto result = row.Maybe(kResult)) args_.Integer("return value", *result);
    if (const auto level = row.Maybe(kLevel)) args_.Integer("nesting level", *level);
    process->Emit(kTable, event, args_);
  });
}

void Recording::ReadOverhead(std::string_view table, bool of_any) {
  enum { kThread = 2, kName, kType, kColumnCount };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{"start", "end", "globalTid",
                                                                       "nameId", "overheadType"};
  Each(table, kColumns, [&](const TableScan& row) {
    const auto thread = row.Maybe(kThread);
    if (!of_any && thread && !processes_.contains(ProcessKey(*thread))) return;
    Event event;
    RecordedProcess* const process = BeginHostRow(row, kThread, "overhead", event);
    if (process == nullptr) return;
    event.name = process->Name(row.Integer(kName), row.place());
    ReadTimes(row, event, process->notes());
    if (const auto type = row.Maybe(kType)) args_.Integer("overhead type", *type);
    process->Emit(table, event, args_);
  });
}

}  // namespace tacho::nsys

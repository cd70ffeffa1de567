// Reads the tables of an export with GPU work, and with waits for it.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "ingest/nsys_sqlite/export_reader.h"
#include "ingest/nsys_sqlite/nsys_names.h"

namespace tacho::nsys {
namespace {

// The first columns of every table of GPU work, in the order of Recording::GpuColumn.
#define TACHO_GPU_COLUMNS \
  "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"

// What a call waits for, in Kineto's words.
std::string_view WaitName(std::string_view call) {
  static constexpr std::pair<std::string_view, std::string_view> kWaits[] = {
      {"StreamSynchronize", "Stream Sync"}, {"StreamWaitEvent", "Stream Wait Event"},
      {"EventSynchronize", "Event Sync"},   {"EventQuery", "Event Query"},
      {"StreamQuery", "Stream Query"},      {"DeviceSynchronize", "Context Sync"},
      {"CtxSynchronize", "Context Sync"}};
  for (const auto& [part, name] : kWaits) {
    if (call.find(part) != std::string_view::npos) return name;
  }
  return call;
}

// `grid` and `block`: the column of x; those of y and z follow it. `registers`: a column; the
// columns of static and of dynamic shared memory follow it.
LaunchSizes SizesOf(const TableScan& row, int grid, int block, int registers) {
  LaunchSizes sizes;
  sizes.grid = XyzOf(row.Integer(grid), row.Integer(grid + 1), row.Integer(grid + 2));
  sizes.block = XyzOf(row.Integer(block), row.Integer(block + 1), row.Integer(block + 2));
  SetLaunchSize(GpuArg::kRegisters, row.Maybe(registers), sizes);
  SetLaunchSize(GpuArg::kStaticShared, row.Maybe(registers + 1), sizes);
  SetLaunchSize(GpuArg::kDynamicShared, row.Maybe(registers + 2), sizes);
  return sizes;
}

}  // namespace

void Recording::AddGraph(const TableScan& row, int column, Event& event) {
  const auto id = row.Maybe(column);
  if (!id) return;
  event.graph = *id;
  args_.Integer("graph id", *id);
}

void Recording::AddGraphNode(const TableScan& row, int column, Event& event) {
  const auto id = row.Maybe(column);
  if (!id) return;
  event.graph_node = *id;
  args_.GraphNode(*id);
}

// Long: each column takes a line.
void Recording::ReadKernels() {
  enum {
    kName = kFirstOfTable,
    kBaseName,
    kMangledName,
    kGrid,
    kBlock = kGrid + 3,
    kRegisters = kBlock + 3,
    kStatic,
    kDynamic,
    kGraphNode,
    kGraph,
    kCluster,
    kGreenContext = kCluster + 3,
    kColumnCount
  };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{TACHO_GPU_COLUMNS,
                                                                       "demangledName",
                                                                       "shortName",
                                                                       "mangledName",
                                                                       "gridX",
                                                                       "gridY",
                                                                       "gridZ",
                                                                       "blockX",
                                                                       "blockY",
                                                                       "blockZ",
                                                                       "registersPerThread",
                                                                       "staticSharedMemory",
                                                                       "dynamicSharedMemory",
                                                                       "graphNodeId",
                                                                       "graphId",
                                                                       "clusterX",
                                                                       "clusterY",
                                                                       "clusterZ",
                                                                       "greenContextId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_KERNEL";
  const bool details = options_.parts.gpu_details;
  const std::span columns(kColumns);
  Each(kTable, details ? columns : columns.first(kBaseName + 1), [&](const TableScan& row) {
    Event event;
    RecordedProcess* const process = BeginGpuRow(row, SliceKind::kKernel, event);
    if (process == nullptr) return;
    event.name = process->Name(row.Integer(row.IsNull(kName) ? kBaseName : kName), row.place());
    if (!details) return process->Emit(kTable, event, args_);
    const auto triple = [&](std::string_view key, int x) {
      args_.Text(key,
                 process->InternTriple(row.Integer(x), row.Integer(x + 1), row.Integer(x + 2)));
    };
    if (process->wants_args()) {
      triple("grid", kGrid);
      triple("block", kBlock);
      if (row.Integer(kCluster) > 0) triple("cluster", kCluster);
      event.launch = process->words().InternLaunch(SizesOf(row, kGrid, kBlock, kRegisters));
    }
    for (const auto& [key, column] : {std::pair{"registers per thread", kRegisters},
                                      {"static shared memory", kStatic},
                                      {"dynamic shared memory", kDynamic}}) {
      if (const auto value = row.Maybe(column)) args_.Integer(key, *value);
    }
    AddGraph(row, kGraph, event);
    AddGraphNode(row, kGraphNode, event);
    if (const auto value = row.Maybe(kGreenContext)) args_.Integer("green context", *value);
    for (const auto& [key, column] :
         {std::pair{"base name", kBaseName}, {"mangled name", kMangledName}}) {
      if (const auto id = row.Maybe(column)) args_.Text(key, process->QuotedName(*id, row.place()));
    }
    process->Emit(kTable, event, args_);
  });
}

void Recording::ReadCopies() {
  enum {
    kBytes = kFirstOfTable,
    kKind,
    kFrom,
    kTo,
    kFromDevice,
    kToDevice,
    kGraphNode,
    kColumnCount
  };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{
      TACHO_GPU_COLUMNS, "bytes",       "copyKind",    "srcKind",
      "dstKind",         "srcDeviceId", "dstDeviceId", "graphNodeId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_MEMCPY";
  std::map<std::tuple<RecordedProcess*, int64_t, std::string_view, std::string_view>, StringId>
      names;
  Each(kTable, kColumns, [&](const TableScan& row) {
    Event event;
    RecordedProcess* const process = BeginGpuRow(row, SliceKind::kMemcpy, event);
    if (process == nullptr) return;
    const int64_t kind = row.Integer(kKind);
    const auto from = row.Maybe(kFrom), to = row.Maybe(kTo);
    StringId& name = names[{process, kind, MemoryKind(from), MemoryKind(to)}];
    if (name == StringId::kEmpty) name = process->Intern(CopyName(kind, from, to));
    event.name = name;
    args_.Integer("bytes", row.Integer(kBytes));
    args_.Integer("copy kind", kind);
    for (const auto& [key, column] : {std::pair{"source kind", kFrom},
                                      {"destination kind", kTo},
                                      {"source device", kFromDevice},
                                      {"destination device", kToDevice}}) {
      if (const auto value = row.Maybe(column)) args_.Integer(key, *value);
    }
    AddGraphNode(row, kGraphNode, event);
    process->Emit(kTable, event, args_);
  });
}

void Recording::ReadMemsets() {
  enum { kBytes = kFirstOfTable, kValue, kMemory, kGraphNode, kColumnCount };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{
      TACHO_GPU_COLUMNS, "bytes", "value", "memKind", "graphNodeId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_MEMSET";
  Each(kTable, kColumns, [&](const TableScan& row) {
    Event event;
    RecordedProcess* const process = BeginGpuRow(row, SliceKind::kMemset, event);
    if (process == nullptr) return;
    event.name = process->Intern(MemsetName(row.Maybe(kMemory)));
    args_.Integer("bytes", row.Integer(kBytes));
    args_.Integer("value", row.Integer(kValue));
    AddGraphNode(row, kGraphNode, event);
    process->Emit(kTable, event, args_);
  });
}

// Reads launches of whole CUDA graphs, each as one piece of work: the kernels that they ran were
// not recorded.
void Recording::ReadGraphs() {
  enum { kGraph = kFirstOfTable, kExecutable, kColumnCount };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{TACHO_GPU_COLUMNS, "graphId",
                                                                       "graphExecId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  Each(kTable, kColumns, [&](const TableScan& row) {
    Event event;
    RecordedProcess* const process = BeginGpuRow(row, SliceKind::kKernel, event);
    if (process == nullptr) return;
    event.category = process->Category("cuda_graph");
    event.name = process->Intern(
        "CUDA graph " + std::to_string(row.Integer(row.IsNull(kGraph) ? kExecutable : kGraph)));
    AddGraph(row, kGraph, event);
    if (const auto id = row.Maybe(kExecutable)) args_.Integer("graph exec id", *id);
    process->notes().Add(NoteId::kGraphAsOne, row.place().Text());
    process->Emit(kTable, event, args_);
  });
}

void Recording::ReadWaits() {
  enum { kType = kFirstOfTable, kEventId, kColumnCount };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{TACHO_GPU_COLUMNS,
                                                                       "syncType", "eventId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
  constexpr int64_t kNone = 0xffffffff;  // nsys's value for no stream and for no event
  for (const auto& [key, process] : processes_) {
    std::ranges::stable_sort(process->waits, {}, &std::pair<int64_t, StringId>::first);
  }
  Each(kTable, kColumns, [&](const TableScan& row) {
    RecordedProcess* const process = ProcessOf(row, kProcess);
    if (process == nullptr) return;
    Event event;
    event.has_category = true;
    event.category = process->Category("cuda_sync");
    const int64_t device = row.Integer(kDevice), stream = row.Integer(kStream);
    const bool has_stream = stream != kNone && !row.IsNull(kStream);
    event.track = process->OnDevice(device, has_stream ? std::to_string(stream) : "(no stream)");
    const int64_t correlation = row.Integer(kCorrelation);
    const auto call = std::ranges::lower_bound(process->waits, correlation, {},
                                               &std::pair<int64_t, StringId>::first);
    const bool is_known = call != process->waits.end() && call->first == correlation;
    event.name = process->Intern(is_known ? WaitName(process->words()[call->second]) : "Sync");
    ReadTimes(row, event, process->notes());
    args_.Clear();
    args_.Integer("context", row.Integer(kContext));
    if (has_stream) args_.Integer("stream", stream);
    args_.Integer("correlation", correlation);
    args_.Integer("sync type", row.Integer(kType));
    if (const auto id = row.Maybe(kEventId); id && *id != kNone) args_.Integer("event id", *id);
    process->Emit(kTable, event, args_);
  });
}

#undef TACHO_GPU_COLUMNS

}  // namespace tacho::nsys

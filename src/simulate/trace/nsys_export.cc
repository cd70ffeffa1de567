#include "simulate/trace/nsys_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "simulate/trace/trace_steps.h"

namespace tacho::embedded {
extern const std::string_view nsys_schema;
}

namespace tacho::simulate {
namespace {

constexpr int64_t kNone = 0xffffffff;        // nsys's value for no stream and for no event
constexpr int64_t kPushPopRange = 59;        // ENUM_NSYS_EVENT_TYPE
constexpr int64_t kEventSynchronize = 1;     // ENUM_CUPTI_SYNC_TYPE
constexpr int64_t kPinned = 1, kDevice = 2;  // ENUM_CUDA_MEM_KIND
constexpr int64_t kHtoD = 1, kDtoH = 2;      // ENUM_CUDA_MEMCPY_OPER

int64_t GlobalPid(int64_t pid) { return int64_t{1} << 48 | pid << 24; }
int64_t GlobalTid(int64_t pid, int64_t tid) { return GlobalPid(pid) | tid; }

// A runtime call's name in nsys, which ends in the version of the call's signature.
std::string NsysCallName(const CallInfo& call) {
  static constexpr std::pair<std::string_view, int> kVersions[] = {
      {"cudaLaunchKernel", 7000},
      {"cudaLaunchKernelExC", 11060},
      {"cudaGraphLaunch", 10000},
      {"cudaStreamIsCapturing", 10000},
      {"cudaStreamGetCaptureInfo_v2", 11030},
      {"cudaEventRecordWithFlags", 11010},
      {"cudaDeviceGetAttribute", 5000}};
  const std::string_view name = call.name;
  if (std::string_view(call.category) == "cuda_driver") return call.name;
  const auto* found = std::ranges::find(kVersions, name, &std::pair<std::string_view, int>::first);
  return fmt::format("{}_v{}", name, found == std::end(kVersions) ? 3020 : found->second);
}

// A kernel's name without return type, template arguments and parameters:
// "reshape_and_cache_flash_kernel" for "void vllm::reshape_and_cache_flash_kernel<...>(...)".
std::string ShortName(std::string_view name) {
  const std::string_view whole = name.substr(0, name.find_first_of("<("));
  return std::string(whole.substr(whole.find_last_of(": ") + 1));
}

class NsysWriter {
 public:
  explicit NsysWriter(SqliteDatabase& database) : database_(database) {}

  Result<void> Write(std::span<const TraceSource> ranks, const Recording& recording) {
    TACHO_RETURN_IF_ERROR(database_.Run(embedded::nsys_schema));
    // An incomplete export is deleted, so it needs no journal on the disk.
    TACHO_RETURN_IF_ERROR(
        database_.Run("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN"));
    for (const TraceSource& rank : ranks) WriteRank(rank, recording);
    Insert("ANALYSIS_DETAILS(globalVid, duration, startTime, stopTime)", 0,
           recording.end_ns - recording.start_ns, 0, recording.end_ns - recording.start_ns);
    Insert("TARGET_INFO_SESSION_START_TIME(utcEpochNs)",
           ranks.empty() ? recording.start_ns : ranks[0].OnClock(recording.start_ns));
    for (const auto& [text, id] : strings_) Insert("StringIds(id, value)", id, text);
    TACHO_RETURN_IF_ERROR(std::move(result_));
    return database_.Run("COMMIT");
  }

 private:
  void WriteRank(const TraceSource& rank, const Recording& recording) {
    const Hardware& hardware = rank.cost.hardware;
    Insert("PROCESSES(globalPid, pid, name)", GlobalPid(rank.pid), rank.pid, rank.process_name);
    Insert("ThreadNames(nameId, priority, globalTid)", IdOf(rank.process_name.substr(0, 15)), 20,
           GlobalTid(rank.pid, rank.pid));
    Insert(
        "TARGET_INFO_GPU(vmId, id, name, totalMemory, smCount, cuDevice, computeMajor, "
        "computeMinor)",
        0, rank.device, hardware.device_name, hardware.memory_bytes, hardware.multiprocessors,
        rank.device, hardware.compute_major, hardware.compute_minor);
    for (int device = 0; device < rank.visible_devices; ++device) {
      Insert("TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid, numMultiprocessors)", device, device,
             rank.pid, hardware.multiprocessors);
    }
    const int64_t zero_ns =
        rank.OnClock(recording.start_ns) - KinetoBaseNs(rank.OnClock(recording.start_ns));
    EachTracedStep(rank, recording, [&](const TracedStep& step) {
      const int64_t origin_ns = step.origin_ns - zero_ns;
      Ranges(rank, step, origin_ns);
      Calls(rank, step, origin_ns);
      DeviceWork(rank, step, origin_ns);
    });
  }

  void Ranges(const TraceSource& rank, const TracedStep& step, int64_t origin_ns) {
    for (size_t i = 0; i < step.plan.host.size(); ++i) {
      if (step.external_ids[i] == 0) continue;
      const HostSlice& slice = step.plan.host[i];
      const int64_t start = origin_ns + slice.start_ns;
      Insert("NVTX_EVENTS(start, end, eventType, text, globalTid, domainId)", start,
             start + slice.dur_ns, kPushPopRange,
             slice.kind == HostSlice::Kind::kOp
                 ? fmt::format("{}, op_id = {}", slice.name, step.external_ids[i])
                 : step.NameOf(slice),
             GlobalTid(rank.pid, rank.pid), 0);
    }
  }

  void Calls(const TraceSource& rank, const TracedStep& step, int64_t origin_ns) {
    for (size_t i = 0; i < step.plan.calls.size(); ++i) {
      if (!step.shows_call[i]) continue;
      const HostCall& call = step.plan.calls[i];
      const int64_t start = origin_ns + call.start_ns, end = start + call.dur_ns;
      const bool is_driver = std::string_view(call.call->category) == "cuda_driver";
      Insert(
          "CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, "
          "returnValue)",
          start, end, is_driver ? 1 : 0, GlobalTid(rank.pid, rank.pid), step.correlations[i],
          IdOf(NsysCallName(*call.call)), 0);
      if (std::string_view(call.call->name) != "cudaEventSynchronize") continue;
      Insert(
          "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, streamId, "
          "correlationId, globalPid, syncType, eventId, eventSyncId)",
          start, end, rank.device, 1, kNone, step.correlations[i], GlobalPid(rank.pid),
          kEventSynchronize, 1, 0);
    }
  }

  void DeviceWork(const TraceSource& rank, const TracedStep& step, int64_t origin_ns) {
    for (size_t i = 0; i < step.plan.device.size(); ++i) {
      if (!step.shows_device[i]) continue;
      const DeviceSlice& slice = step.plan.device[i];
      const int64_t start = origin_ns + slice.start_ns, end = start + slice.dur_ns;
      const int64_t correlation = step.correlations[static_cast<size_t>(slice.call)];
      switch (slice.kind) {
        case DeviceSlice::Kind::kKernel:
          Kernel(rank, slice, start, correlation);
          break;
        case DeviceSlice::Kind::kCopy: {
          const bool to_device = std::string_view(slice.name).find("HtoD") != std::string::npos;
          Insert(
              "CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId, "
              "correlationId, globalPid, bytes, copyKind, srcKind, dstKind)",
              start, end, rank.device, 1, slice.stream, correlation, GlobalPid(rank.pid),
              slice.bytes, to_device ? kHtoD : kDtoH, to_device ? kPinned : kDevice,
              to_device ? kDevice : kPinned);
          break;
        }
        case DeviceSlice::Kind::kMemset:
          Insert(
              "CUPTI_ACTIVITY_KIND_MEMSET(start, end, deviceId, contextId, streamId, "
              "correlationId, globalPid, value, bytes, memKind)",
              start, end, rank.device, 1, slice.stream, correlation, GlobalPid(rank.pid), 0,
              slice.bytes, kDevice);
          break;
      }
    }
  }

  // Inserts a kernel. For a kernel that is in no graph, the columns graphNodeId and graphId are
  // left out, so that they are NULL.
  void Kernel(const TraceSource& rank, const DeviceSlice& slice, int64_t start,
              int64_t correlation) {
    const KernelInfo& kernel = KernelOf(rank.engine, slice.role);
    const auto insert = [&](const char* columns, auto... graph) {
      Insert(columns, start, start + slice.dur_ns, rank.device, 1, slice.stream, correlation,
             GlobalPid(rank.pid), IdOf(slice.name), IdOf(ShortName(slice.name)), kernel.registers,
             GridOf(kernel, slice.rows), kernel.grid_y, 1, kernel.block, 1, 1, 0,
             kernel.shared_memory, 0, 0, ++grid_id_, "", graph...);
    };
#define TACHO_KERNEL_COLUMNS                                                                       \
  "CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, "          \
  "globalPid, demangledName, shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, " \
  "blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, "      \
  "gridId, tensorSizeMinusOneElements"
    if (slice.graph_node == 0) return insert(TACHO_KERNEL_COLUMNS ")");
    insert(TACHO_KERNEL_COLUMNS ", graphNodeId, graphId)", GraphNodeIdOf(slice), GraphIdOf(slice));
#undef TACHO_KERNEL_COLUMNS
  }

  int64_t IdOf(std::string_view text) {
    const auto found = strings_.find(text);
    if (found != strings_.end()) return found->second;
    const auto id = static_cast<int64_t>(strings_.size()) + 1;
    strings_.emplace(text, id);
    return id;
  }

  // Inserts a row. `into` is "TABLE(COLUMNS)". It must be a literal, because prepared statements
  // are found by the address of this text.
  template <typename... Values>
  void Insert(const char* into, const Values&... values) {
    if (!result_) return;
    auto statement = statements_.find(into);
    if (statement == statements_.end()) {
      std::string marks;
      for (size_t i = 0; i < sizeof...(values); ++i) marks += i == 0 ? "?" : ", ?";
      auto prepared = database_.Prepare(fmt::format("INSERT INTO {} VALUES ({})", into, marks));
      if (!prepared) {
        result_ = tl::unexpected<Error>(prepared.error());
        return;
      }
      statement = statements_.emplace(into, *std::move(prepared)).first;
    }
    int parameter = 0;
    (BindValue(statement->second, parameter++, values), ...);
    if (const auto stepped = statement->second.Step(); !stepped)
      result_ = tl::unexpected<Error>(stepped.error());
    statement->second.Reset();
  }
  static void BindValue(SqliteStatement& statement, int parameter, int64_t value) {
    statement.Bind(parameter, value);
  }
  static void BindValue(SqliteStatement& statement, int parameter, std::string_view value) {
    statement.Bind(parameter, value);
  }

  SqliteDatabase& database_;
  std::map<const char*, SqliteStatement> statements_;
  std::map<std::string, int64_t, std::less<>> strings_;
  int64_t grid_id_ = 0;
  Result<void> result_;
};

}  // namespace

Result<void> WriteNsysExport(std::span<const TraceSource> ranks, const Recording& recording,
                             SqliteDatabase& database) {
  return NsysWriter(database).Write(ranks, recording);
}

}  // namespace tacho::simulate

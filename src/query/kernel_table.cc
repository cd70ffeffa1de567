// The table `kernels`: the kernels of GPUs, or the operators that do the work on a CPU engine.
#include <algorithm>

#include "query/query_table.h"

namespace tacho {
namespace {

// The rows of the table `kernels` are those of Trace::gpu. On a CPU engine, the table has a part
// for each device; the rows of a part are the items of its device (DeviceItems).
bool OnHost(const QueriedTrace& trace) { return trace.prepared().work.on_host; }
const GpuTable& Gpu(const QueryRow& row) { return row.trace->trace().gpu; }
const DeviceItems& ItemsOf(const QueryRow& row) {
  return row.trace->prepared().work.devices[row.part];
}
const WorkItem& Item(const QueryRow& row) { return ItemsOf(row).items[row.row]; }

bool IsKernel(const QueryRow& row) {
  if (!OnHost(*row.trace)) return Gpu(row).kind[row.row] == SliceKind::kKernel;
  const WorkItem& item = Item(row);
  return !item.continued &&
         (item.kind == WorkKind::kCompute || item.kind == WorkKind::kCommunication);
}

QueriedTrace::Slice KernelSlice(const QueryRow& row) {
  if (!OnHost(*row.trace)) return {SlicesOf::kGpu, row.row};
  return row.trace->SliceOf(Item(row));
}

// When the kernel ran. On a CPU engine, the whole time of the operator, although operators that it
// calls have rows of their own.
Interval KernelWhen(const QueryRow& row) {
  const QueriedTrace::Slice slice = KernelSlice(row);
  return row.trace->Slices(slice.table).When(slice.row);
}
DurationNs KernelTime(const QueryRow& row) {
  return OnHost(*row.trace) ? row.trace->prepared().work.TimeOf(Item(row))
                            : KernelWhen(row).length();
}
StringId KernelNameOf(const QueryRow& row) {
  return OnHost(*row.trace) ? Item(row).name : Gpu(row).name[row.row];
}

std::optional<QueryRow> FindKernel(const QueriedTrace& trace, int64_t id) {
  const auto slice = trace.FindId(id);
  if (!slice) return std::nullopt;
  if (!OnHost(trace)) {
    const QueryRow row{&trace, 0, slice->row};
    return slice->table == SlicesOf::kGpu && IsKernel(row) ? std::optional(row) : std::nullopt;
  }
  const TimeNs start = trace.Slices(slice->table).start[slice->row];
  const auto& devices = trace.prepared().work.devices;
  for (uint32_t part = 0; part < devices.size(); ++part) {
    const auto& items = devices[part].items;
    const auto start_of = [](const WorkItem& item) { return item.when.start; };
    for (auto item = std::ranges::lower_bound(items, start, {}, start_of);
         item != items.end() && item->when.start == start; ++item) {
      const QueryRow row{&trace, part, static_cast<uint32_t>(item - items.begin())};
      const QueriedTrace::Slice of = KernelSlice(row);
      if (of.table == slice->table && of.row == slice->row && IsKernel(row)) return row;
    }
  }
  return std::nullopt;
}

// The number of a row's stream: its StreamId. On a CPU engine, streams are numbered through all
// devices: first those of the first device, then those of the second, and so on.
uint32_t StreamOf(const QueryRow& row) {
  if (!OnHost(*row.trace)) return Index(Gpu(row).stream[row.row]);
  uint32_t before = 0;
  for (uint32_t part = 0; part < row.part; ++part) {
    before += static_cast<uint32_t>(row.trace->prepared().work.devices[part].streams.size());
  }
  return before + Item(row).stream;
}
size_t KernelStreamCount(const QueriedTrace& trace) {
  if (!OnHost(trace)) return trace.trace().words.streams().size();
  size_t count = 0;
  for (const DeviceItems& device : trace.prepared().work.devices) count += device.streams.size();
  return count;
}
struct StreamName {
  std::string_view device, stream;
};
StreamName NameOfStream(const QueriedTrace& trace, uint32_t word) {
  if (!OnHost(trace)) {
    const Stream& stream = trace.trace().words.streams()[word];
    return {trace.Text(stream.device), trace.Text(stream.stream)};
  }
  for (const DeviceItems& device : trace.prepared().work.devices) {
    if (word < device.streams.size()) return {device.device, device.streams[word]};
    word -= static_cast<uint32_t>(device.streams.size());
  }
  return {};
}

QueryValue LaunchOf(const QueryRow& row) {
  if (OnHost(*row.trace)) return {};
  return IdOrNull(*row.trace, SlicesOf::kHostCalls,
                  row.trace->prepared().links.call_of_gpu[row.row]);
}
QueryValue OperatorOf(const QueryRow& row) {
  if (!OnHost(*row.trace))
    return IdOrNull(*row.trace, SlicesOf::kHostOps, row.trace->OpOfWork(row.row));
  const QueriedTrace::Slice slice = KernelSlice(row);
  return slice.table == SlicesOf::kHostOps ? row.trace->IdOf(slice.table, slice.row) : QueryValue();
}
QueryValue StepOf(const QueryRow& row) {
  return StepOrNull(OnHost(*row.trace) ? row.trace->StepOf(Item(row))
                                       : row.trace->StepOfWork(row.row));
}

const QueryWords kKernelNames{[](const QueryRow& row) { return Index(KernelNameOf(row)); },
                              StringCount, StringOf};
const QueryWords kKernelShortNames{
    [](const QueryRow& row) { return Index(KernelNameOf(row)); }, StringCount,
    [](const QueriedTrace& trace, uint32_t id) {
      return std::optional(trace.ShortName(static_cast<StringId>(id)));
    }};
const QueryWords kKernelCategories{
    [](const QueryRow& row) -> uint32_t {
      return OnHost(*row.trace) ? Item(row).category : row.trace->CategoryOf(KernelNameOf(row));
    },
    [](const QueriedTrace& trace) { return trace.classifier().categories().size(); },
    [](const QueriedTrace& trace, uint32_t category) {
      return std::optional<std::string_view>(trace.classifier().categories()[category]);
    }};
const QueryWords kKernelAnnotations{
    [](const QueryRow& row) -> uint32_t {
      return OnHost(*row.trace) ? 0 : row.trace->annotations().NumberOf(row.row);
    },
    [](const QueriedTrace& trace) { return trace.annotations().texts().size(); },
    [](const QueriedTrace& trace, uint32_t number) {
      return number == 0 ? std::nullopt
                         : std::optional<std::string_view>(trace.annotations().texts()[number]);
    }};
const QueryWords kKernelDevices{StreamOf, KernelStreamCount,
                                [](const QueriedTrace& trace, uint32_t word) {
                                  return std::optional(NameOfStream(trace, word).device);
                                }};
const QueryWords kKernelStreams{StreamOf, KernelStreamCount,
                                [](const QueriedTrace& trace, uint32_t word) {
                                  return std::optional(NameOfStream(trace, word).stream);
                                }};

std::vector<QueryColumn> KernelColumns() {
  using enum QueryRole;
  return {
      {"id", "INTEGER", "its slice", kKey,
       [](const QueryRow& row) {
         const QueriedTrace::Slice slice = KernelSlice(row);
         return QueryValue(row.trace->IdOf(slice.table, slice.row));
       }},
      RankColumn(),
      TraceColumn(),
      WorkerColumn(),
      {"device", "TEXT", "by the trace's own id", kPlain, nullptr, kKernelDevices},
      {"stream", "TEXT", "by the trace's own id", kPlain, nullptr, kKernelStreams},
      {"name", "TEXT", "as in the file", kPlain, nullptr, kKernelNames},
      {"short_name", "TEXT", "without return type, parameters and namespaces", kPlain, nullptr,
       kKernelShortNames},
      {"category", "TEXT", "moe.gemm, attention.core, comm.collective: docs/rules.md", kPlain,
       nullptr, kKernelCategories},
      {"start_ns", "INTEGER", "on the clock of the trace", kStart,
       [](const QueryRow& row) { return QueryValue(KernelWhen(row).start.ns); }},
      {"dur_ns", "INTEGER", "how long it took; of an operator its own code", kPlain,
       [](const QueryRow& row) { return QueryValue(KernelTime(row).ns); }},
      {"end_ns", "INTEGER", "when it ended", kEnd,
       [](const QueryRow& row) { return QueryValue(KernelWhen(row).end.ns); }},
      {"launch_id", "INTEGER", "the call that launched it", kPlain, LaunchOf},
      {"operator_id", "INTEGER", "the operator that launched it", kPlain, OperatorOf},
      {"step", "INTEGER", "number of the step in which it was launched", kPlain, StepOf},
      {"annotation", "TEXT", "the name of its node of a CUDA graph (torch 2.15)", kPlain, nullptr,
       kKernelAnnotations},
  };
}

}  // namespace

QueryTable KernelsQueryTable() {
  return {.name = "kernels",
          .says = "kernels of GPUs; on a CPU engine the operators that do its work",
          .columns = KernelColumns(),
          .parts =
              [](const QueriedTrace& trace) {
                return OnHost(trace) ? static_cast<uint32_t>(trace.prepared().work.devices.size())
                                     : uint32_t{1};
              },
          .rows =
              [](const QueriedTrace& trace, uint32_t part) {
                return OnHost(trace) ? trace.prepared().work.devices[part].items.size()
                                     : trace.trace().gpu.size();
              },
          .has = IsKernel,
          .lanes = [](const QueriedTrace& trace, uint32_t) -> const LaneRows* {
            return OnHost(trace) ? nullptr : &trace.prepared().index.gpu();
          },
          .find = FindKernel};
}

}  // namespace tacho

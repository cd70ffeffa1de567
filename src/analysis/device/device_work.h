#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/names/classifier.h"
#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// How a piece of device work is counted when device time is split up.
enum class WorkKind : uint8_t { kCompute, kCommunication, kCopy, kMemset };
constexpr size_t kWorkKinds = 4;
std::string_view WorkKindName(WorkKind kind);  // "compute", "communication", "copy", "memset"
// The names of the kinds in `mask`: bit k is WorkKind k.
std::vector<std::string> KindNames(size_t mask);

// The sum of the device work of one category.
struct CategoryRow {
  std::string category;
  uint64_t count = 0;
  DurationNs total;
};
// Leaves out rows without work. Sorted by total time, longest first, then by name.
std::vector<CategoryRow> SortedCategories(std::vector<CategoryRow> rows);

// One kernel, copy or memset. On a CPU engine: a collective, or a stretch in which an operator runs
// its own code. An operator has several stretches when it calls other operators in between.
struct WorkItem {
  Interval when;
  StringId name;
  // Row of Trace::gpu. On a CPU engine (DeviceWork::on_host) a row of Trace::host_ops if it is
  // smaller than Trace::host_ops.size(), else that size plus a row of Trace::annotations.
  uint32_t row = 0;
  uint32_t stream = 0;  // index into DeviceItems::streams
  WorkCategory category = 0;
  WorkKind kind = WorkKind::kCompute;
  // On a CPU engine: this is not the operator's first stretch. Only the first stretch counts as a
  // call. It begins when the operator begins, and is empty if the operator calls another one at
  // once.
  bool continued = false;
};

struct DeviceItems {
  std::string device;  // the trace's own id; on a CPU engine "cpu"
  // The trace's own stream ids, sorted by number. On a CPU engine: thread ids.
  std::vector<std::string> streams;
  std::vector<WorkItem> items;  // sorted by (start, end, row)
  // From the first start to the last end of `items`; empty if there are no items.
  Interval extent{};
  TrackId executor{};  // on a CPU engine: the thread that executes the model
};

// The work of all devices of a trace. All analyses of device time start from it.
//
// GPU work is gpu_memcpy, gpu_memset and kernel events.
//
// If the engine ran without a GPU, its trace has one device, "cpu". A trace counts as one of such
// an engine if it has operators that do work, but no GPU events, no event categories of
// accelerators or of launch calls, and no sign of a GPU in the header. The work of this device is
// what its executing thread does:
//
// - The own time of its operators (cpu_op): an operator's time minus that of the operators inside
//   it. Nesting follows the rule in ops.h, applied to cpu_op only. So an addmm that first copies
//   its bias counts as a copy and a matrix product.
// - Wrappers (marked in rules/kernels.rules) only call other operators. The own time of a wrapper
//   is not work if an operator inside it works. If none does, the wrapper itself must have done the
//   work. Operators of category "bookkeeping" (views and memory) do not count as working.
// - The executing thread of a process is the thread with most of this own time.
// - Collectives that other threads of the process carry out are communication, on a stream of their
//   own. They are user_annotation events of category "comm", such as "gloo:all_reduce" on gloo's
//   threads. Meanwhile the executing thread waits outside of any operator, or computes.
//
// A merged trace of several CPU engines has one device for each process, named by its pid.
struct DeviceWork {
  bool on_host = false;
  std::vector<DeviceItems> devices;  // sorted by id, numeric ids first
  // On a CPU engine, by row of Trace::host_ops: the operator's own time that counts as work, summed
  // over all its stretches.
  std::vector<DurationNs> own_time = {};
  std::vector<std::string> categories;  // indexed by WorkItem::category

  // How long the whole kernel, copy, operator or collective ran. `item` is its first stretch.
  [[nodiscard]] DurationNs TimeOf(const WorkItem& item) const {
    return item.row < own_time.size() ? own_time[item.row] : item.when.length();
  }
};

// Collects the items that overlap `scope`, without cutting them at its window. Lists all devices
// and streams of the trace, also those without such items. Cost: O(n log s) for s streams; 32 bytes
// an item.
DeviceWork CollectDeviceWork(const TrackIndex& index, const Classifier& classifier,
                             const Scope& scope = {});

// Whether `when` overlaps the scope's window. An empty `when` counts by its start.
bool Touches(const Scope& scope, Interval when);

}  // namespace tacho

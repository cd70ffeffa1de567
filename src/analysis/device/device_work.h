#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/names/classifier.h"
#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// What a piece of device work is for the decomposition of time.
enum class WorkKind : uint8_t { kCompute, kCommunication, kCopy, kMemset };
constexpr size_t kWorkKinds = 4;
std::string_view WorkKindName(WorkKind kind);  // "compute", "communication", "copy", "memset"
// The names of a set of kinds: bit k is WorkKind k.
std::vector<std::string> KindNames(size_t mask);

// Device work of one category added up.
struct CategoryRow {
  std::string category;
  uint64_t count = 0;
  DurationNs total;
};
// The rows that have any work, by total, longest first, then name.
std::vector<CategoryRow> SortedCategories(std::vector<CategoryRow> rows);

// One kernel, copy or memset. On a CPU engine, a collective, or a stretch of an operator's own
// code: the operators that it calls cut this code into stretches.
struct WorkItem {
  Interval when;
  StringId name;
  // Row of Trace::gpu. If DeviceWork::on_host: a row of Trace::host_ops if it is below
  // Trace::host_ops.size(), else that size plus a row of Trace::annotations.
  uint32_t row = 0;
  uint32_t stream = 0;  // index into DeviceItems::streams
  WorkCategory category = 0;
  WorkKind kind = WorkKind::kCompute;
  // On a CPU engine: not the first stretch of an operator. Only the first stretch counts as a call
  // of the operator. It begins with the operator, and is empty if the operator calls another one at
  // once.
  bool continued = false;
};

struct DeviceItems {
  std::string device;  // the trace's own id; on a CPU engine "cpu"
  // The trace's own ids (on a CPU engine the threads'), sorted by number.
  std::vector<std::string> streams;
  std::vector<WorkItem> items;  // sorted by (start, end, row)
  Interval extent{};            // of the items: first start to last end; empty without any
  TrackId executor{};           // on a CPU engine: the thread that executes the model
};

// The work of all devices of a trace, which the analyses of device time are based on.
//
// GPU work is gpu_memcpy, gpu_memset and kernel events.
//
// A trace of an engine without a GPU (no such event, no accelerator's or launch call's category, no
// sign of a GPU in the header, but operators that do work) has one device, "cpu". Its work is what
// its executing thread does:
//
// - The own time of its operators (cpu_op): an operator's time without that of the operators inside
//   it, by the tree rule of ops.h over cpu_op alone. An addmm that copies its bias first is a copy
//   and a matrix product.
// - Wrappers, by rules/kernels.rules, only call other operators. The own time of a wrapper is not
//   work if an operator inside it works; else only the wrapper can have done the work. Bookkeeping
//   (category "bookkeeping": views and memory) does not count as such an operator.
// - The executing thread of a process is the one with most of this time.
// - Collectives that other threads of the process carry out (user_annotation events of category
//   "comm", such as "gloo:all_reduce" on gloo's own threads) are communication, on a stream of
//   their own: the executing thread waits for them outside of any operator, or computes meanwhile.
//
// A merged trace of several such engines has one device a process, named by its pid.
struct DeviceWork {
  bool on_host = false;
  std::vector<DeviceItems> devices;  // sorted by id, numbers first
  // On a CPU engine, by row of Trace::host_ops: the operator's own time over all stretches, where
  // that is work.
  std::vector<DurationNs> own_time = {};
  std::vector<std::string> categories;  // the names that WorkItem::category stands for

  // How long the whole kernel, copy, operator or collective ran. `item`: its first stretch.
  [[nodiscard]] DurationNs TimeOf(const WorkItem& item) const {
    return item.row < own_time.size() ? own_time[item.row] : item.when.length();
  }
};

// Collects the items that touch `scope` (whole, not clipped); devices and streams are those of the
// whole trace, even if none of their items does. Cost: O(n log s) for s streams; 32 bytes an item.
DeviceWork CollectDeviceWork(const TrackIndex& index, const Classifier& classifier,
                             const Scope& scope = {});

// Whether any of `when`, or its start when it is empty, lies inside the scope.
bool Touches(const Scope& scope, Interval when);

}  // namespace tacho

#pragma once

#include <string>
#include <vector>

#include "analysis/classifier.h"
#include "analysis/scope.h"
#include "model/trace.h"

namespace tacho {

// What a piece of device work is for the decomposition of time.
enum class WorkKind : uint8_t { kCompute, kCommunication, kCopy, kMemset };

// One kernel, copy or memset; on a CPU engine one leaf operator.
struct WorkItem {
  Interval when;
  StringId name;
  uint32_t row = 0;     // in Trace::gpu, or in Trace::host_ops when DeviceWork::on_host
  uint32_t stream = 0;  // index into DeviceItems::streams
  WorkCategory category = 0;
  WorkKind kind = WorkKind::kCompute;
};

struct DeviceItems {
  std::string device;                // the trace's own id; "cpu" on a CPU engine
  std::vector<std::string> streams;  // the trace's own ids (on a CPU engine the thread's), sorted by number
  std::vector<WorkItem> items;       // sorted by (start, end, row)
};

// The work of all devices of a trace, the common ground of the analyses of device time.
//
// GPU work is gpu_memcpy, gpu_memset and kernel events. A trace of an engine without a GPU (no such
// event, no other accelerator's, and no GPU in the header) has one device, "cpu": the thread that
// executes the model (the one whose leaf operators run longest), with its leaf operators (cpu_op
// without cpu_op inside) as items.
struct DeviceWork {
  bool on_host = false;
  std::vector<DeviceItems> devices;  // sorted by id, numbers first
};

// Collects the items that touch `scope` (whole, not clipped). Cost: O(n log n), O(n) when the file is
// already sorted; 40 bytes an item.
DeviceWork CollectDeviceWork(const Trace& trace, const Classifier& classifier, const Scope& scope = {});

}  // namespace tacho

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/trace/kernel_catalog.h"

namespace tacho::simulate {

// A deliberate difference between two simulated runs.
enum class ChangeKind : uint8_t {
  // Changes to the kernels of a step.
  kSlower,  // a kernel takes `percent` longer
  // A kernel and the one after it become one kernel, which takes a fifth less time than both.
  kFused,
  kRenamed,     // a kernel gets another name
  kMore,        // each call of a kernel is followed by `amount` more calls of it
  kCommSlower,  // all collectives take `percent` longer
  kSerial,      // the shared expert runs on the stream of the other kernels
  kEager,       // decode steps launch each kernel by itself, without a graph
  // Changes to the host.
  kLateRank,       // one rank begins each step later
  kHostLate,       // inside the engine's step, all ranks launch their first work later
  kSchedulerLate,  // before the engine's step, all ranks begin later
  // A change to one rank of a model with experts: its grouped matrix products take longer.
  kSlowExperts,
  // Changes to the whole run: another workload or model.
  kRequests,  // number of requests in flight
  kPrompts,   // mean length of the prompts
  kModel,
  kLayers,
  kCount,
};

// One change, written KIND[@WHERE][:AMOUNT] in --change.
struct Change {
  ChangeKind kind = ChangeKind::kCount;
  KernelRole role = KernelRole::kCount;  // the changed kernel, if it is one
  int64_t rank = 0;                      // for kLateRank and kSlowExperts
  double percent = 0;
  int64_t amount = 0;  // nanoseconds, or a count
  std::string model;   // for kModel: the model's name in --model-size
};

// One kind of change, as --help lists it.
struct ChangeRow {
  ChangeKind kind;
  std::string_view name;
  std::string_view where;     // "KERNEL", "RANK" or ""
  std::string_view argument;  // "PERCENT", "TIME", "COUNT", "NAME" or ""
  std::string_view fallback;  // value if the argument is missing
  std::string_view help;
};
const std::vector<ChangeRow>& ChangeRows();

// A kernel's name in --change: "attention", "gate-up".
std::string_view RoleName(KernelRole role);
// FusedRole: the kernel that replaces `role` together with the kernel after it. RenamedRole: the
// kernel that replaces `role` alone. kCount: there is no such kernel.
KernelRole FusedRole(KernelRole role);
KernelRole RenamedRole(KernelRole role);

// kUsage: the error says what is wrong and which kinds exist.
Result<Change> ParseChange(std::string_view text);
std::string TextOf(const Change& change);
// Whether the change concerns the model, the workload or the launch mode. The steps of a run with
// the change and of a run without it can then not be compared one by one.
bool ChangesWholeRun(ChangeKind kind);
// Whether the change concerns only one rank.
bool ChangesOneRank(ChangeKind kind);

}  // namespace tacho::simulate

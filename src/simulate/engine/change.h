#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/trace/kernel_catalog.h"

namespace tacho::simulate {

// A difference between two simulated runs that is made on purpose.
enum class ChangeKind : uint8_t {
  // To the kernels of a step.
  kSlower,      // a kernel takes so many per cent longer
  kFused,       // a kernel and the one after it become one, which takes a fifth less than both
  kRenamed,     // a kernel has another name
  kMore,        // at each call of a kernel it is called so many more times
  kCommSlower,  // all collectives take so many per cent longer
  kEager,       // decode steps launch kernel by kernel, without a graph
  // To the host.
  kLateRank,       // one rank begins each step later
  kHostLate,       // all ranks launch their first work later, inside the engine's step
  kSchedulerLate,  // all ranks begin each step later, before the engine's step
  // To one rank of a model with experts: its grouped products take longer.
  kSlowExperts,
  // To the whole run: another workload or model.
  kRequests,  // requests in flight
  kPrompts,   // mean length of a prompt
  kModel,
  kLayers,
  kCount,
};

// One change, as in --change: KIND[@WHERE][:AMOUNT].
struct Change {
  ChangeKind kind = ChangeKind::kCount;
  KernelRole role = KernelRole::kCount;  // of a change to one kernel
  int64_t rank = 0;                      // of kLateRank and kSlowExperts
  double percent = 0;
  int64_t amount = 0;  // nanoseconds, or a count
  std::string model;   // of kModel: its name in --model-size
};

// A kind in --help.
struct ChangeRow {
  ChangeKind kind;
  std::string_view name;
  std::string_view where;     // "KERNEL", "RANK" or ""
  std::string_view argument;  // "PERCENT", "TIME", "COUNT", "NAME" or ""
  std::string_view fallback;  // of the argument
  std::string_view help;
};
const std::vector<ChangeRow>& ChangeRows();

// What a kernel is called in --change: "attention", "gate-up".
std::string_view RoleName(KernelRole role);
// The kernel that replaces `role` and the kernel after it (FusedRole), or `role` alone
// (RenamedRole); kCount if there is no such kernel.
KernelRole FusedRole(KernelRole role);
KernelRole RenamedRole(KernelRole role);

// kUsage with what is wrong and what is known.
Result<Change> ParseChange(std::string_view text);
std::string TextOf(const Change& change);
// Whether the change is to the model, the workload or the launch mode: then the steps of both runs
// cannot be compared one by one.
bool ChangesWholeRun(ChangeKind kind);
// Whether the change is to one rank.
bool ChangesOneRank(ChangeKind kind);

}  // namespace tacho::simulate

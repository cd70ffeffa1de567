#include "analysis/device/idle_table.h"

#include <algorithm>
#include <array>

#include "base/share.h"

namespace tacho {

std::string_view IdleCauseId(IdleCause cause) {
  static constexpr std::array<std::string_view, kIdleCauses> kIds{
      "host-late", "in-launch-call", "launch-latency", "waiting",    "queued",  "in-graph",
      "host",      "in-operator",    "between-steps",  "no-request", "unknown", "profiler"};
  return kIds[static_cast<size_t>(cause)];
}

DurationNs UnknownTime(const IdleTable& idle) {
  const auto found = std::ranges::find(idle.causes, IdleCause::kUnknown, &IdleCauseRow::cause);
  return found == idle.causes.end() ? DurationNs{} : found->total;
}

bool MuchIsUnknown(const IdleTable& idle) {
  constexpr double kMuch = 0.01;
  return ShareOf(UnknownTime(idle), idle.window - idle.busy) >= kMuch;
}

bool IsAtLeast(const IdleTable& idle) {
  return idle.causes.front().cause != IdleCause::kUnknown && MuchIsUnknown(idle);
}

bool IsTheHosts(IdleCause cause) {
  return cause == IdleCause::kHostLate || cause == IdleCause::kInLaunchCall ||
         cause == IdleCause::kHost || cause == IdleCause::kInOperator ||
         cause == IdleCause::kBetweenSteps;
}

}  // namespace tacho

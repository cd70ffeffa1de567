#include "report/profile/ceilings.h"

#include <fmt/format.h>

#include <algorithm>

namespace tacho {

std::vector<Ceiling> CeilingsOf(const IdleTable& idle, const DeviceTotals& totals) {
  std::vector<Ceiling> ceilings;
  for (const IdleCauseRow& row : idle.causes) {
    if (row.cause == IdleCause::kNoRequest) continue;  // nobody waited
    ceilings.push_back({fmt::format("idle: {}", IdleCauseId(row.cause)), row.total, row.cause});
  }
  if (totals.exposed_comm.ns > 0)
    ceilings.push_back({"exposed communication", totals.exposed_comm});
  if (totals.exposed_copy.ns > 0) ceilings.push_back({"exposed copies", totals.exposed_copy});
  std::stable_sort(ceilings.begin(), ceilings.end(),
                   [](const Ceiling& a, const Ceiling& b) { return a.time > b.time; });
  return ceilings;
}

}  // namespace tacho

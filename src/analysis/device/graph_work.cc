#include "analysis/device/graph_work.h"

#include <numeric>
#include <utility>

namespace tacho {

GraphWork CollectGraphWork(const Trace& trace, const LaunchLinks& links,
                           std::vector<uint32_t> calls) {
  GraphWork work;
  work.calls = std::move(calls);
  std::vector<uint32_t> number(trace.host_calls.size(), LaunchLinks::kNone);
  for (uint32_t i = 0; i < work.calls.size(); ++i) number[work.calls[i]] = i;
  work.begin.assign(work.calls.size() + 1, 0);
  const auto launch_of = [&](uint32_t row) {
    const uint32_t call = links.call_of_gpu[row];
    return call == LaunchLinks::kNone ? LaunchLinks::kNone : number[call];
  };
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    if (launch_of(row) != LaunchLinks::kNone) ++work.begin[launch_of(row) + 1];
  }
  std::partial_sum(work.begin.begin(), work.begin.end(), work.begin.begin());
  work.rows.resize(work.begin.back());
  std::vector<size_t> next(work.begin.begin(), work.begin.end() - 1);
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    if (const uint32_t launch = launch_of(row); launch != LaunchLinks::kNone)
      work.rows[next[launch]++] = row;
  }
  return work;
}

}  // namespace tacho

#include "analysis/stream_waits.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "analysis/name_index.h"

namespace tacho {

std::vector<bool> CallsBehindWaits(const Trace& trace, const LaunchLinks& links) {
  const HostCallTable& calls = trace.host_calls;
  NameIndex names(trace);
  std::vector<bool> is_wait;
  std::vector<uint32_t> rows;  // calls that wait or put work
  bool any_wait = false;
  std::vector<bool> puts_work(calls.size()), waits(calls.size());
  for (const uint32_t call : links.call_of_gpu) {
    if (call != LaunchLinks::kNone) puts_work[call] = true;
  }
  for (uint32_t row = 0; row < calls.size(); ++row) {
    const uint32_t name = names[calls.name[row]];
    if (name == is_wait.size()) {
      is_wait.push_back(trace.Text(calls.name[row]).find("StreamWaitEvent") !=
                        std::string_view::npos);
    }
    waits[row] = is_wait[name];
    any_wait = any_wait || waits[row];
    if (waits[row] || puts_work[row]) rows.push_back(row);
  }
  if (!any_wait) return {};
  std::ranges::sort(rows, [&](uint32_t a, uint32_t b) {
    return std::tuple(calls.track[a], calls.start[a], !waits[a], a) <
           std::tuple(calls.track[b], calls.start[b], !waits[b], b);
  });
  std::vector<bool> behind(calls.size());
  bool waiting = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && calls.track[rows[i]] != calls.track[rows[i - 1]]) waiting = false;
    if (!waits[rows[i]]) behind[rows[i]] = waiting;
    waiting = waits[rows[i]];
  }
  return behind;
}

}  // namespace tacho

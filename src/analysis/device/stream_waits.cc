#include "analysis/device/stream_waits.h"

#include <algorithm>
#include <string_view>

#include "analysis/index/name_index.h"

namespace tacho {

std::vector<bool> CallsBehindWaits(const TrackIndex& index, const LaunchLinks& links) {
  const Trace& trace = index.trace();
  const HostCallTable& calls = trace.host_calls;
  NameIndex names(trace);
  std::vector<bool> is_wait;  // indexed by the name's number
  std::vector<bool> waits(calls.size());
  bool any_wait = false;
  for (uint32_t row = 0; row < calls.size(); ++row) {
    const uint32_t name = names[calls.name[row]];
    if (name == is_wait.size()) {
      is_wait.push_back(trace.Text(calls.name[row]).find("StreamWaitEvent") !=
                        std::string_view::npos);
    }
    if (!is_wait[name]) continue;
    waits[row] = true;
    any_wait = true;
  }
  if (!any_wait) return {};
  std::vector<bool> behind(calls.size());
  for (size_t track = 0; track < index.host_calls().lanes(); ++track) {
    const RowList rows = index.host_calls().Of(track);
    bool waiting = false;
    for (size_t i = 0; i < rows.size();) {
      // Of calls that start together, those that make a stream wait come first.
      size_t end = i;
      for (; end < rows.size() && calls.start[rows[end]] == calls.start[rows[i]]; ++end) {
        waiting = waiting || waits[rows[end]];
      }
      for (; i < end; ++i) {
        if (!links.first.LaunchedWork(rows[i]) || waits[rows[i]]) continue;
        behind[rows[i]] = waiting;
        waiting = false;
      }
    }
  }
  return behind;
}

}  // namespace tacho

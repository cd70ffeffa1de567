#pragma once

#include <algorithm>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// Calls visit(row, call, turn) for each launched piece of GPU work, in the order of streams, then
// starts. The turn of a piece is the time from the end of its launch call and of all earlier work
// on its stream to the end of the piece. In this time the piece may wait for work of other streams,
// for other ranks and for the host, and then it runs. Cost: O(n).
template <typename Visit>
void ForEachTurn(const TrackIndex& index, const LaunchLinks& links, Visit visit) {
  const Trace& trace = index.trace();
  for (size_t stream = 0; stream < index.gpu().lanes(); ++stream) {
    const RowList rows = index.gpu().Of(stream);
    TimeNs over = trace.span.start;
    for (size_t i = 0; i < rows.size(); ++i) {
      const TimeNs end = trace.gpu.When(rows[i]).end;
      if (const uint32_t call = links.call_of_gpu[rows[i]]; call != LaunchLinks::kNone)
        visit(rows[i], call, end - std::max(over, trace.host_calls.When(call).end));
      over = std::max(over, end);
    }
  }
}

}  // namespace tacho

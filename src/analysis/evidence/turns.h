#pragma once

#include <algorithm>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// Calls visit(row, call, turn) for each piece of GPU work that a call launched, by stream, then
// start. The turn of a piece begins when its call and all earlier work on its stream are over, and
// ends when the piece ends. In its turn, a piece waits for work of other streams, for other ranks
// and for the host, then runs. Cost: O(n).
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

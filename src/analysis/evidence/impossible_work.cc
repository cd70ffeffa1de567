#include "analysis/evidence/impossible_work.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/evidence/device_clock.h"
#include "analysis/index/of_each_call.h"

namespace tacho {
namespace {

// The ends of the pieces of one thread that still run on one stream; keeps at most kMost of them.
class StillRunning {
 public:
  // How many pieces still run at `start`.
  size_t At(TimeNs start) {
    std::erase_if(ends_, [&](TimeNs end) { return end <= start; });
    return ends_.size();
  }
  void Add(TimeNs end) {
    if (ends_.size() < kMost) ends_.push_back(end);
  }

 private:
  static constexpr size_t kMost = 8;  // more than any caller asks for
  std::vector<TimeNs> ends_;
};

}  // namespace

ImpossibleWork FindImpossibleWork(const TrackIndex& index, const LaunchLinks& links) {
  constexpr size_t kStacked = 3;
  const Trace& trace = index.trace();
  const HostCallTable& calls = trace.host_calls;
  const std::vector<uint8_t> is_graph = OfEachCall(trace, IsGraphLaunch);
  ImpossibleWork found;
  for (size_t stream = 0; stream < index.gpu().lanes(); ++stream) {
    const RowList rows = index.gpu().Of(stream);
    struct Last {
      TimeNs called, started;  // of the piece that was launched latest, among those seen so far
      StillRunning running;
      bool any = false;
    };
    std::unordered_map<TrackId, Last> threads;
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint32_t row = rows[i], call = links.call_of_gpu[row];
      if (call == LaunchLinks::kNone || is_graph[call] != 0) continue;
      Last* const last = &threads[calls.track[call]];
      const Interval when = trace.gpu.When(row);
      if (last->any) ++found.compared;
      const bool late = last->any && calls.start[call] < last->called &&
                        when.start - last->started > kClockTolerance;
      const bool stacked = last->running.At(when.start) >= kStacked;
      if (found.count() == 0 && (late || stacked)) found.first = row;
      if (late) {
        ++found.out_of_order;
      } else if (stacked) {
        ++found.stacked;
      }
      last->running.Add(when.end);
      if (last->any && calls.start[call] < last->called) continue;
      last->called = calls.start[call];
      last->started = when.start;
      last->any = true;
    }
  }
  return found;
}

}  // namespace tacho

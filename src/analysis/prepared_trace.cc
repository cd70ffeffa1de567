#include "analysis/prepared_trace.h"

#include "base/parallel.h"

namespace tacho {

PreparedTrace Prepare(const Trace& trace, const Classifier& classifier, const Scope& scope,
                      size_t threads) {
  PreparedTrace prepared{TrackIndex(trace, threads), {}, {}, {}};
  RunAll({[&] { prepared.work = CollectDeviceWork(prepared.index, classifier, scope); },
          [&] {
            prepared.links = LinkLaunches(trace);
            prepared.steps = FindSteps(prepared.index, prepared.links, scope);
          }},
         threads);
  return prepared;
}

}  // namespace tacho

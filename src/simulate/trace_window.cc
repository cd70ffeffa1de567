#include "simulate/trace_window.h"

#include <memory>

#include "simulate/trace_flush.h"

namespace tacho::simulate {

void RecordTraceWindow(Loop& loop, TraceWindowOrder given) {
  const auto order = std::make_shared<const TraceWindowOrder>(std::move(given));
  loop.At(order->start_unix_ns - loop.UnixNs(0), [&loop, order] {
    std::vector<int> recordings;
    for (Engine* engine : order->engines) recordings.push_back(engine->OpenRecording());
    loop.At(loop.NowNs() + order->duration_ns, [&loop, order, recordings] {
      std::vector<RankFlush> flushes;
      std::vector<std::string> paths;
      for (size_t i = 0; i < order->engines.size(); ++i) {
        const auto recording =
            std::make_shared<const Recording>(order->engines[i]->CloseRecording(recordings[i]));
        for (int rank = 0; rank < order->ranks; ++rank) {
          RankFlush flush;
          flush.source = order->source(i, rank);
          flush.recording = recording;
          flush.file.path = order->path_of(flush.source.pid);
          flush.source.trace_name = flush.file.path;
          paths.push_back(flush.file.path);
          flushes.push_back(std::move(flush));
        }
      }
      FlushTraces(loop, std::move(flushes), [order, paths](const auto&) { order->done(paths); });
    });
  });
}

}  // namespace tacho::simulate

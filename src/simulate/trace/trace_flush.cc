#include "simulate/trace/trace_flush.h"

#include <chrono>

#include "base/pause.h"
#include "simulate/trace/trace_table.h"
#include "simulate/trace/trace_writer.h"
#include "simulate/trace/truth.h"

namespace tacho::simulate {
namespace {

void MakeTable(const RankFlush& flush, const std::stop_token& stop) {
  const auto steps = static_cast<int64_t>(flush.recording->steps.size());
  Pause(stop, std::chrono::milliseconds(flush.table_ns_per_step * steps / 1'000'000));
  if (!stop.stop_requested())
    WriteTextFile(flush.table_path, KeyAveragesTable(flush.source, *flush.recording));
}

FileOutcome Flush(const RankFlush& flush, std::stop_token stop) {
  if (flush.lost) return {};
  const auto write = [&](ByteSink& sink) {
    return WriteKinetoTrace(flush.source, *flush.recording, sink);
  };
  FileOutcome outcome = WriteTraceFile(flush.file, write, stop);
  if (outcome.end != FileEnd::kWritten) return outcome;
  if (!flush.table_path.empty()) MakeTable(flush, stop);
  if (flush.truth && flush.source.content == TraceContent::kWorker) {
    WriteTextFile(flush.file.path + ".truth.json", TruthOf(flush.source, *flush.recording));
  }
  return outcome;
}

}  // namespace

void FlushTraces(Loop& loop, std::vector<RankFlush> flushes,
                 std::function<void(const std::vector<FileOutcome>&)> done) {
  struct Shared {
    std::vector<RankFlush> flushes;
    std::vector<FileOutcome> outcomes;
    size_t open = 0;
    std::function<void(const std::vector<FileOutcome>&)> done;
  };
  auto shared = std::make_shared<Shared>();
  shared->flushes = std::move(flushes);
  shared->outcomes.resize(shared->flushes.size());
  shared->open = shared->flushes.size();
  shared->done = std::move(done);
  if (shared->open == 0) {
    loop.Post([shared] { shared->done(shared->outcomes); });
    return;
  }
  for (size_t i = 0; i < shared->flushes.size(); ++i) {
    loop.Away(
        [shared, i](std::stop_token stop) {
          shared->outcomes[i] = Flush(shared->flushes[i], std::move(stop));
        },
        [shared] {
          if (--shared->open == 0) shared->done(shared->outcomes);
        });
  }
}

}  // namespace tacho::simulate

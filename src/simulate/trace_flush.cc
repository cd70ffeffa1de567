#include "simulate/trace_flush.h"

#include "simulate/trace_table.h"
#include "simulate/trace_writer.h"
#include "simulate/truth.h"

namespace tacho::simulate {
namespace {

FileOutcome Flush(const RankFlush& flush, std::stop_token stop) {
  if (flush.lost) return {};
  const auto write = [&](ByteSink& sink) {
    return WriteKinetoTrace(flush.source, *flush.recording, sink);
  };
  FileOutcome outcome = WriteTraceFile(flush.file, write, std::move(stop));
  if (outcome.end != FileEnd::kWritten) return outcome;
  if (!flush.table_path.empty()) {
    WriteTextFile(flush.table_path, KeyAveragesTable(flush.source, *flush.recording));
  }
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

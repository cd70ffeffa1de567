// SQL over a small run: any text ends, within its bounds, writes nothing, and leaves the tables as
// they are.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "query/query_for_test.h"

namespace {

tacho::Trace SmallTrace(int64_t rank) {
  tacho::TraceBuilder builder;
  for (int64_t i = 0; i < 12; ++i) {
    builder.Kernel(i % 3 == 0 ? "gemm" : "norm", {.stream = i % 2 == 0 ? "7" : "8",
                                                  .start = i * 10,
                                                  .duration = 4 + i,
                                                  .correlation = i,
                                                  .args = {{"grid", "[1]"}}});
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = i * 10 - 5, .duration = 3, .correlation = i});
    builder.Host("cpu_op", "aten::mm", {.start = i * 10 - 6, .duration = 5});
  }
  builder.Host("user_annotation", "execute_context_0(0)_generation_1(3)",
               {.start = -10, .duration = 80});
  builder.header().rank = rank;
  return std::move(builder).Finish();
}

const tacho::QueriedRun& SmallRun() {
  static const std::unique_ptr<tacho::QueriedRun> run = [] {
    std::vector<tacho::Trace> traces;
    traces.push_back(SmallTrace(0));
    traces.push_back(SmallTrace(1));
    return tacho::RunOfTraces(std::move(traces));
  }();
  return *run;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  int looks = 0;
  auto session = tacho::QuerySession::Open(SmallRun(), [&looks] { return ++looks > 5; });
  if (!session) std::abort();
  sqlite3_hard_heap_limit64(20'000'000);
  std::string_view sql(reinterpret_cast<const char*>(data), size);
  for (int statements = 0; statements < 5; ++statements) {
    auto statement = session->Next(sql);
    if (!statement && statement.error().message.empty()) std::abort();
    if (!statement || !*statement) break;
    if (!(*statement)->is_read_only()) std::abort();
    for (int rows = 0; rows < 200; ++rows) {
      const auto is_row = tacho::StepWithin(**statement);
      if (!is_row || !*is_row) break;
      size_t bytes = 0;
      for (int i = 0; i < (*statement)->columns(); ++i) bytes += (*statement)->Text(i).size();
      if (bytes > size_t{tacho::QuerySession::kMostBytesOfValue} * 100) std::abort();
    }
  }
  const auto count = tacho::RowsOf(session->database(), "SELECT count(*) FROM slices");
  if (looks == 0 && count != std::vector<std::string>{"74"}) std::abort();
  return 0;
}

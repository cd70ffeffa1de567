// Digests of traces, read back from results: whatever the bytes hold, they are refused or can be
// compared over ranks; and what is written of them reads back as the same.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/ranks/digest_bytes.h"
#include "report/json/analyze_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto digest = tacho::ReadDigest({reinterpret_cast<const char*>(data), size});
  if (!digest) return 0;
  const std::string bytes = tacho::BytesOfDigest(*digest);
  const auto again = tacho::ReadDigest(bytes);
  if (!again || tacho::BytesOfDigest(*again) != bytes) std::abort();
  const auto shared = std::make_shared<const tacho::TraceDigest>(*std::move(digest));
  tacho::RunAnalysis run;
  for (int64_t rank = 0; rank < 2; ++rank) {
    tacho::TraceAnalysis& trace = run.traces.emplace_back();
    trace.path = std::to_string(rank);
    trace.facts.role = tacho::TraceRole::kWorker;
    trace.facts.rank = trace.header.rank = rank;
    trace.facts.world_size = trace.header.world_size = 2;
    trace.header.base_time_ns = 0;
    trace.span = {{0}, {1'000'000}};
    tacho::DeviceTime& device = trace.devices.emplace_back();
    device.device = "0";
    device.window = trace.span;
    trace.digest = shared;
  }
  tacho::AnalyzeRun(run);
  if (tacho::AnalyzeJson(run, "1").empty()) std::abort();
  return 0;
}

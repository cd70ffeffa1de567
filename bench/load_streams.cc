// How exact and how costly the load generator is: N streams against a server with known timing, in
// one process, two threads.
//
//   load_streams STREAMS [TOKENS_A_SECOND=100] [SECONDS=10] [TTFT_MS=50]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

#include "load/drive.h"
#include "load/request_times.h"
#include "load/summary.h"
#include "load_server.h"

using namespace tacho;

namespace {

std::string Percentiles(std::vector<double> samples_ns) {
  const std::vector<double> percents = {50, 99};
  const Distribution all = Describe(std::move(samples_ns), percents);
  if (all.count == 0) return "none";
  return fmt::format("mean {:.3f} p50 {:.3f} p99 {:.3f} max {:.3f} ms", all.mean / 1e6,
                     *all.At(50) / 1e6, *all.At(99) / 1e6, all.most / 1e6);
}

long PeakKb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, double otherwise) {
    return argc > i ? std::atof(argv[i]) : otherwise;
  };
  const auto streams = static_cast<uint64_t>(argument(1, 100));
  const double rate = argument(2, 100), seconds = argument(3, 10), ttft_ms = argument(4, 50);
  rlimit files{65536, 65536};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  LoadServer server(static_cast<int64_t>(ttft_ms * 1e6), static_cast<int64_t>(1e9 / rate));
  auto client = HttpClient::Create();
  PlanOptions options;
  options.concurrency = streams;
  options.prompt_tokens = 32;
  options.output_tokens = static_cast<int64_t>(rate * seconds / 4);
  options.requests = streams * 4;
  const auto plan = MakePlan(options);
  DriveProgress progress;
  const long before_kb = PeakKb();
  const auto records = Drive(**client, *plan, {{.url = server.url(), .model = "tiny"}}, progress);
  if (!records) {
    fmt::print(stderr, "{}\n", records.error().message);
    return 1;
  }
  const LoadSummary summary = Summarise(*records, {.most_at_once = streams});
  const auto truth = server.TakeTruth();
  std::vector<double> first, last, request, tpot, ttft;
  for (const RequestRecord& r : records->requests) {
    const auto found = truth.find(r.id);
    if (r.status != RequestStatus::kDone || found == truth.end()) continue;
    const auto& t = found->second;
    first.push_back(static_cast<double>(r.first_token_ns - t.first_ns));
    last.push_back(static_cast<double>(r.last_token_ns - t.last_ns));
    request.push_back(static_cast<double>(t.arrived_ns - r.sent_ns));
    ttft.push_back(static_cast<double>(*TtftNs(r)) -
                   static_cast<double>(t.first_ns - t.arrived_ns));
    tpot.push_back(*TpotNs(r) - static_cast<double>(t.last_ns - t.first_ns) /
                                    static_cast<double>(r.output_tokens - 1));
  }
  fmt::print("{} streams of {:g} tokens/s: {} requests done, {} not, {:.0f} events/s\n", streams,
             rate, summary.whole.done, summary.whole.sent - summary.whole.done,
             static_cast<double>(summary.whole.chunks) /
                 (static_cast<double>(summary.whole.duration_ns) / 1e9));
  fmt::print(
      "  client: {:.2f} core (busiest second {:.2f}), loop late p99 {:.2f} ms; server {:.2f} "
      "core\n",
      summary.client.cpu_share, summary.client.most_cpu_share,
      static_cast<double>(summary.client.lag_p99_ns) / 1e6, server.cpu_share());
  fmt::print("  CPU of the client per event: {:.2f} us; coalesced {:.1f} %\n",
             summary.client.cpu_share * static_cast<double>(summary.whole.duration_ns) / 1e3 /
                 static_cast<double>(std::max<uint64_t>(1, summary.whole.chunks)),
             100.0 * static_cast<double>(summary.whole.coalesced_chunks) /
                 static_cast<double>(std::max<uint64_t>(1, summary.whole.chunks)));
  fmt::print("  TTFT as seen less the server's own: {}\n", Percentiles(ttft));
  fmt::print("    first token found after it was written: {}\n", Percentiles(first));
  fmt::print("    request taken after it was sent: {}\n", Percentiles(request));
  fmt::print("  TPOT as seen less the server's own: {}\n", Percentiles(tpot));
  fmt::print("  verdict: {}{}\n", summary.verdict.client_bound ? "client-bound: " : "",
             summary.verdict.why);
  fmt::print("  memory: {} MB more at the peak, {:.1f} kB a stream\n",
             (PeakKb() - before_kb) / 1024,
             static_cast<double>(PeakKb() - before_kb) / static_cast<double>(streams));
  return summary.whole.done == summary.whole.sent ? 0 : 1;
}

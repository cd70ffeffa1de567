#include "control/live/probe.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <limits>

#include "control/engine_type.h"
#include "control/live/engine_answers.h"
#include "control/live/prometheus.h"
#include "net/http_date.h"
#include "net/url.h"

namespace tacho {
namespace {

HttpRequest Get(const std::string& url, std::chrono::milliseconds patience) {
  HttpRequest request;
  request.url = url;
  request.timeout = patience;
  return request;
}

int64_t UnixMinusMonotonicNs() {
  timespec real{}, monotonic{};
  clock_gettime(CLOCK_REALTIME, &real);
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  return (real.tv_sec - monotonic.tv_sec) * 1'000'000'000 + (real.tv_nsec - monotonic.tv_nsec);
}

// Narrows the bounds for the offset of the server's clock, by a Date header ("Sat, 21 Nov 2026
// 12:16:01 GMT"). The header gives the server's time before the answer arrived here, rounded down
// to a second. Servers reuse its text for a second (uvicorn by a timer of its event loop). A server
// whose loop is busy, which shows in a slow answer, reuses it for longer.
void NarrowOffset(const HttpResponse& answer, int64_t& least, int64_t& most) {
  const std::optional<int64_t> date = ParseHttpDate(FindHeader(answer.headers, "date"));
  if (!date) return;
  int64_t server = *date * 1'000'000'000;
  int64_t shift = UnixMinusMonotonicNs();
  least = std::max(least, server - (answer.times.first_byte_ns + shift));
  const int64_t took = answer.times.first_byte_ns - answer.times.sent_ns;
  most = std::min(most, server + 2'000'000'000 + took - (answer.times.sent_ns + shift));
}

void ReadClock(const ProbeAnswers& answers, EngineFacts& facts) {
  int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  int64_t quickest = std::numeric_limits<int64_t>::max();
  for (const std::optional<HttpResponse>& answer : answers) {
    if (!answer) continue;
    quickest = std::min(quickest, answer->times.first_byte_ns - answer->times.sent_ns);
    NarrowOffset(*answer, least, most);
  }
  if (quickest != std::numeric_limits<int64_t>::max()) facts.round_trip_ns = quickest;
  // A server that reuses its Date for too long can make the interval empty: then the offset is
  // unknown.
  if (least == std::numeric_limits<int64_t>::min() || least > most) return;
  facts.clock_offset_ns = least + (most - least) / 2;
  facts.clock_error_ns = (most - least) / 2;
}

}  // namespace

std::vector<Result<EngineFacts>> ProbeAll(HttpClient& client, const std::vector<Worker>& workers,
                                          std::chrono::milliseconds patience,
                                          std::stop_token stop) {
  std::vector<HttpRequest> requests;
  for (const Worker& worker : workers)
    for (std::string_view path : kProbePaths)
      requests.push_back(Get(worker.url + std::string(path), patience));
  std::vector<Result<HttpResponse>> answers = client.FetchAll(requests, stop);

  std::vector<Result<EngineFacts>> facts;
  std::vector<HttpRequest> second;  // to vLLM servers without an openapi.json
  std::vector<size_t> second_of;
  for (size_t w = 0; w < workers.size(); ++w) {
    ProbeAnswers of_worker;
    std::optional<Error> failure;
    for (size_t r = 0; r < kProbeRoutes; ++r) {
      Result<HttpResponse>& answer = answers[w * kProbeRoutes + r];
      if (answer)
        of_worker[r] = std::move(*answer);
      else if (!failure)
        failure = answer.error();
    }
    bool silent = std::none_of(of_worker.begin(), of_worker.end(),
                               [](const auto& a) { return a.has_value(); });
    if (silent) {
      const std::string_view authority =
          std::string_view(workers[w].url).substr(workers[w].url.find("://") + 3);
      if (workers[w].found_in.find(authority) == std::string::npos && !workers[w].found_in.empty())
        failure->message += fmt::format(" (named by {})", workers[w].found_in);
      facts.push_back(tl::unexpected(*failure));
      continue;
    }
    Result<EngineFacts> read = workers[w].in_place_of
                                   ? Result<EngineFacts>(FactsInPlace(workers[w]))
                                   : ReadFacts(workers[w].url, of_worker);
    if (read) {
      ReadClock(of_worker, *read);
      bool hidden = !of_worker[kOpenApi] || of_worker[kOpenApi]->status != 200;
      if (hidden && TypeOf(read->kind).ShowsStartToGet()) {
        second.push_back(Get(workers[w].url + "/start_profile", patience));
        second_of.push_back(w);
      }
    }
    facts.push_back(std::move(read));
  }
  // A GET on vLLM's POST route gives 405 if the route exists, else 404. (Never sent to SGLang.)
  std::vector<Result<HttpResponse>> routes = client.FetchAll(second, stop);
  for (size_t i = 0; i < routes.size(); ++i)
    facts[second_of[i]]->profiler.has_http = routes[i] && routes[i]->status == 405;
  return facts;
}

std::vector<Result<MetricsSnapshot>> ReadMetricsAll(HttpClient& client,
                                                    const std::vector<Worker>& workers,
                                                    std::chrono::milliseconds patience,
                                                    std::stop_token stop) {
  std::vector<HttpRequest> requests;
  for (const Worker& worker : workers) requests.push_back(Get(worker.url + "/metrics", patience));
  std::vector<Result<MetricsSnapshot>> snapshots;
  for (Result<HttpResponse>& answer : client.FetchAll(requests, stop)) {
    if (!answer) {
      snapshots.push_back(tl::unexpected(answer.error()));
      continue;
    }
    if (answer->status != 200) {
      snapshots.push_back(
          Fail(ErrorKind::kRemote, fmt::format("GET /metrics: HTTP {}", answer->status)));
      continue;
    }
    MetricsSnapshot snapshot;
    snapshot.at_ns = answer->times.sent_ns + (answer->times.ended_ns - answer->times.sent_ns) / 2;
    snapshot.engines = CountersIn(ParsePrometheus(answer->body));
    snapshot.text = std::move(answer->body);
    snapshots.push_back(std::move(snapshot));
  }
  return snapshots;
}

}  // namespace tacho

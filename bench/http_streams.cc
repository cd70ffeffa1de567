// Streams from our server to our client, for measuring both: N streams get E events a second each,
// for S seconds. Prints the events a second, the CPU time of an event on the client's and on the
// server's thread, and how late the events were found.
//   http_streams [--streams 1000] [--rate 100] [--seconds 5] [--bytes 300]
// Or one request to each of N servers at once, over new connections and over kept ones: prints the
// time from the first to the last that was sent, and the CPU time of the client's thread for all.
//   http_streams --servers 256
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/sse.h"

namespace {

using tacho::MonotonicNs;

struct Options {
  long streams = 1000;
  long rate = 100;  // events a second of one stream
  long seconds = 5;
  long bytes = 300;  // of an event
  long servers = 0;
};

Options Parse(int count, char** words) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const long value = std::atol(words[i + 1]);
    if (std::strcmp(words[i], "--streams") == 0) options.streams = value;
    if (std::strcmp(words[i], "--rate") == 0) options.rate = value;
    if (std::strcmp(words[i], "--seconds") == 0) options.seconds = value;
    if (std::strcmp(words[i], "--bytes") == 0) options.bytes = value;
    if (std::strcmp(words[i], "--servers") == 0) options.servers = value;
  }
  return options;
}

int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The CPU time of the thread that runs what is posted.
template <typename Poster>
int64_t CpuOf(Poster& poster) {
  std::promise<int64_t> cpu;
  poster.Post([&] { cpu.set_value(ThreadCpuNs()); });
  return cpu.get_future().get();
}

// Each event says when it was written.
class Reader final : public tacho::HttpSink {
 public:
  explicit Reader(std::vector<int64_t>& late) : late_(late) {}
  void OnHead(int, const std::vector<tacho::HttpHeader>&, int64_t) override {}
  void OnBody(std::string_view bytes, int64_t at_ns) override {
    events_.Feed(bytes, [&](std::string_view data) {
      int64_t written = 0;
      std::from_chars(data.data(), data.data() + data.size(), written);
      late_.push_back(at_ns - written);
    });
  }
  void OnEnd(const tacho::Result<tacho::HttpTimes>&) override {}

 private:
  tacho::SseReader events_;
  std::vector<int64_t>& late_;
};

double Us(int64_t ns) { return static_cast<double>(ns) / 1000; }

int MeasureSpread(tacho::HttpClient& client, tacho::HttpServer& server, long servers) {
  std::vector<tacho::HttpRequest> requests;
  for (long i = 0; i < servers; ++i) {
    const auto port = server.Listen(
        "127.0.0.1", 0, [](const auto& exchange) { exchange->Respond(200, "", "text/plain"); });
    if (!port) return 70;
    requests.push_back(
        {.method = "POST", .url = "http://127.0.0.1:" + std::to_string(*port) + "/start_profile"});
  }
  for (const char* connections : {"new", "kept", "kept", "kept"}) {
    int64_t first = INT64_MAX;
    int64_t last = 0;
    const int64_t cpu_before = CpuOf(client);
    const auto answers = client.FetchAll(requests);
    const int64_t cpu = CpuOf(client) - cpu_before;
    for (const auto& answer : answers) {
      if (!answer) return 70;
      first = std::min(first, answer->times.sent_ns);
      last = std::max(last, answer->times.sent_ns);
    }
    std::printf("%ld servers, %s connections: sent within %.1f ms (%.1f ms of CPU in all)\n",
                servers, connections, Us(last - first) / 1000, Us(cpu) / 1000);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const Options options = Parse(count, words);
  auto server = tacho::HttpServer::Create();
  auto client = tacho::HttpClient::Create();
  if (!server || !client) return 70;
  if (options.servers > 0) return MeasureSpread(**client, **server, options.servers);
  std::vector<std::shared_ptr<tacho::HttpExchange>> exchanges;
  const auto port = (*server)->Listen("127.0.0.1", 0, [&](auto exchange) {
    exchange->Begin(200, "text/event-stream");
    exchanges.push_back(std::move(exchange));
  });
  if (!port) return 70;

  std::vector<int64_t> late;
  late.reserve(static_cast<size_t>(options.streams * options.rate * (options.seconds + 2)));
  for (long i = 0; i < options.streams; ++i) {
    (*client)->Start({.url = "http://127.0.0.1:" + std::to_string(*port)},
                     std::make_shared<Reader>(late));
  }
  const auto opened = [&] {
    std::promise<size_t> size;
    (*server)->Post([&] { size.set_value(exchanges.size()); });
    return size.get_future().get() == static_cast<size_t>(options.streams);
  };
  while (!opened()) std::this_thread::sleep_for(std::chrono::milliseconds(10));

  // Slices of a period, so that the streams are spread over it as those of many engines are.
  constexpr int kSlices = 10;
  const int64_t period = 1'000'000'000 / options.rate;
  const std::string padding(static_cast<size_t>(std::max(options.bytes - 30, 0L)), 'x');
  bool stop = false;
  int64_t next = MonotonicNs();
  int slice = 0;
  std::function<void()> tick = [&] {
    if (stop) return exchanges.clear();
    for (size_t i = static_cast<size_t>(slice); i < exchanges.size(); i += kSlices) {
      exchanges[i]->Write("data: " + std::to_string(MonotonicNs()) + " " + padding + "\n\n");
    }
    slice = (slice + 1) % kSlices;
    next += period / kSlices;
    (*server)->At(next, tick);
  };
  (*server)->Post(tick);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));

  const int64_t client_before = CpuOf(**client);
  const int64_t server_before = CpuOf(**server);
  std::promise<size_t> first;
  (*client)->Post([&] { first.set_value(late.size()); });
  const size_t skip = first.get_future().get();
  const int64_t start = MonotonicNs();
  std::this_thread::sleep_for(std::chrono::seconds(options.seconds));
  std::promise<std::vector<int64_t>> taken;
  (*client)->Post([&] { taken.set_value(late); });
  std::vector<int64_t> got = taken.get_future().get();
  const int64_t wall = MonotonicNs() - start;
  const int64_t client_cpu = CpuOf(**client) - client_before;
  const int64_t server_cpu = CpuOf(**server) - server_before;
  std::promise<void> stopped;
  (*server)->Post([&] {
    stop = true;
    stopped.set_value();
  });
  stopped.get_future().wait();

  got.erase(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(skip));
  if (got.empty()) return 1;
  std::sort(got.begin(), got.end());
  const auto events = static_cast<int64_t>(got.size());
  const auto at = [&](double share) {
    return Us(got[static_cast<size_t>(share * static_cast<double>(got.size() - 1))]);
  };
  const auto per_event = [&](int64_t ns) { return Us(ns) / static_cast<double>(events); };
  const auto cores = [&](int64_t ns) {
    return static_cast<double>(ns) / static_cast<double>(wall);
  };
  std::printf("%ld streams, %ld events/s wanted, %.0f events/s\n", options.streams,
              options.streams * options.rate, 1e9 * cores(events));
  std::printf("client %.2f us/event, %.2f core; server %.2f us/event, %.2f core\n",
              per_event(client_cpu), cores(client_cpu), per_event(server_cpu), cores(server_cpu));
  std::printf("found after being written: p50 %.0f us, p99 %.0f us, max %.0f us\n", at(0.5),
              at(0.99), at(1));
  client->reset();
  server->reset();
  return 0;
}

// Joins 10,000 requests with 20,000 steps of one engine (or REQUESTS and STEPS as given) and says
// how much CPU time that took, as one JSON object. A step takes 4 to 8 ms and lasts longer with
// each prompt; prompts are read whole; answers have 20 to 60 tokens, which reach the client 0.2 to
// 2 ms after their step, some of them with the next one; the clocks are wrong by up to 0.3 ms.
//
//   join_requests [REQUESTS [STEPS [ENGINES [PACKED]]]]
//
// ENGINES above 1: data-parallel, each with STEPS. PACKED: percentage of the tokens that come in
// one chunk with the next one, 5 by default; with 100 an answer comes as a whole.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "analysis/requests/join.h"
#include "base/random.h"

namespace {

using tacho::DurationNs;
using tacho::JoinEngine;
using tacho::Random;
using tacho::Request;
using tacho::RequestTable;
using tacho::TimeNs;

constexpr int kRuns = 5;
constexpr DurationNs kError{300'000};

double CpuMillis() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Running {
  size_t request;
  int64_t left;
  std::vector<int64_t> seen;
};

// One engine's steps, with requests that come evenly over them.
JoinEngine RunEngine(size_t requests, size_t steps, uint64_t packed, uint64_t seed,
                     RequestTable& table) {
  Random random(seed);
  JoinEngine engine;
  engine.worker = 0;
  engine.clock_error = kError;
  const int64_t off = random.Between(-kError.ns, kError.ns);
  std::vector<Running> running;
  int64_t now = 0;
  size_t sent = 0;
  for (size_t i = 0; i < steps; ++i) {
    const size_t from = running.size();
    for (; sent < requests && sent * steps <= i * requests; ++sent) {
      Request& request = table.rows.emplace_back();
      request.worker = 0;
      request.whole = request.at_limit = true;
      request.sent = TimeNs{now - random.Between(100'000, 40'000'000)};
      request.prompt_tokens = random.Between(50, 2000);
      request.output_tokens = random.Between(20, 60);
      running.push_back({table.rows.size() - 1, *request.output_tokens, {}});
    }
    const auto prompts = static_cast<int64_t>(running.size() - from);
    int64_t prompt_tokens = 0;
    for (size_t k = from; k < running.size(); ++k)
      prompt_tokens += *table.rows[running[k].request].prompt_tokens;
    const int64_t end = now + random.Between(4'000'000, 8'000'000) + prompts * 3'000'000;
    const auto generating = static_cast<int64_t>(from);
    engine.steps.push_back({{tacho::Phase::kMixed, prompts, prompt_tokens, generating, generating},
                            {TimeNs{now + off}, TimeNs{end + off}},
                            TimeNs{end + off},
                            static_cast<uint32_t>(i)});
    for (Running& one : running) {
      one.seen.push_back(end + random.Between(200'000, 2'000'000));
      --one.left;
    }
    std::erase_if(running, [&](Running& one) {
      if (one.left > 0) return false;
      for (size_t k = one.seen.size() - 1; k-- > 0;) {
        if (random.Below(100) < packed) one.seen[k] = one.seen[k + 1];
      }
      Request& request = table.rows[one.request];
      request.first_chunk = table.chunks.size();
      for (const int64_t at : one.seen) table.chunks.push_back({TimeNs{at}, 1});
      request.end_chunk = table.chunks.size();
      request.ended = TimeNs{one.seen.back() + 20'000};
      return true;
    });
    now = end + random.Between(50'000, 200'000);
  }
  // The recording ends before the last answers.
  for (const Running& one : running) {
    Request& request = table.rows[one.request];
    request.first_chunk = table.chunks.size();
    int64_t at = one.seen.empty() ? now : one.seen.back();
    for (const int64_t seen : one.seen) table.chunks.push_back({TimeNs{seen}, 1});
    for (int64_t k = 0; k < one.left; ++k) table.chunks.push_back({TimeNs{at += 5'000'000}, 1});
    request.end_chunk = table.chunks.size();
    request.ended = TimeNs{at};
  }
  return engine;
}

size_t Given(int argc, char** argv, int at, size_t otherwise) {
  return argc > at ? static_cast<size_t>(std::strtoull(argv[at], nullptr, 10)) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t requests = Given(argc, argv, 1, 10'000), steps = Given(argc, argv, 2, 20'000);
  const size_t engines = std::max<size_t>(1, Given(argc, argv, 3, 1));
  const uint64_t packed = Given(argc, argv, 4, 5);
  RequestTable table;
  table.engines = 1;
  table.workers.push_back({"w0", "", engines > 1, static_cast<int64_t>(engines)});
  std::vector<JoinEngine> all;
  for (size_t i = 0; i < engines; ++i)
    all.push_back(RunEngine(requests / engines, steps, packed, i + 1, table));
  double least = 0;
  tacho::RequestJoin join;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<JoinEngine> copy = all;
    const double begin = CpuMillis();
    join = tacho::JoinRequests(table, std::move(copy));
    const double took = CpuMillis() - begin;
    least = run == 0 ? took : std::min(least, took);
  }
  std::printf(
      "{\"requests\": %zu, \"steps\": %zu, \"engines\": %zu, \"tokens\": %llu, \"tied\": %llu, "
      "\"why\": %d, \"cpu_ms\": %.1f}\n",
      table.rows.size(), steps, engines, static_cast<unsigned long long>(join.tokens),
      static_cast<unsigned long long>(join.tied), static_cast<int>(join.why), least);
  return 0;
}

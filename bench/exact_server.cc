// An engine whose timing is known, for bench/load.py. Prints its address, serves until its standard
// input closes, and prints what it did: one JSON object.
//
//   exact_server TTFT_MS TOKENS_A_SECOND
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "base/json_text.h"
#include "load_server.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: exact_server TTFT_MS TOKENS_A_SECOND\n");
    return 2;
  }
  tacho::LoadServer server(static_cast<int64_t>(std::atof(argv[1]) * 1e6),
                           static_cast<int64_t>(1e9 / std::atof(argv[2])));
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  std::cin.get();
  fmt::print("{{\"cpu_share\":{:.4f},\"requests\":[", server.cpu_share());
  const char* comma = "";
  for (const auto& [id, truth] : server.TakeTruth()) {
    if (truth.last_ns == 0) continue;
    fmt::print("{}{{\"id\":{},\"arrived_ns\":{},\"read_ns\":{},\"first_ns\":{},\"last_ns\":{}}}",
               comma, tacho::QuoteJson(id), truth.arrived_ns, truth.read_ns, truth.first_ns,
               truth.last_ns);
    comma = ",";
  }
  fmt::print("]}}\n");
}

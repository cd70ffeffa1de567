#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The command lines by which Nsight Systems records an engine: the engine is launched under `nsys
// launch`, which records nothing yet; then each window has a `nsys start` and a `nsys stop`. The
// version of nsys decides which command takes which option (2022.4 takes --sample with the start,
// and calls it deprecated for the launch), so these functions are given nsys's help text. They
// start nothing.

// The long options ("--trace") that the output of `nsys COMMAND --help` lists, without deprecated
// ones. Empty for any other text.
std::set<std::string> NsysOptionsIn(std::string_view help);

// The name of the nsys session for the launch that tacho calls `launch`.
std::string NsysSessionName(std::string_view launch);

struct NsysLaunch {
  std::string program = "nsys";
  std::string session;  // its name
  // Also records calls of the operating system (osrt), which are many events.
  bool os_calls = false;
};

// The words to put before an engine's own command. A session that is launched with them can record
// CUDA with the nodes of its graphs, NVTX, and processes that fork before they exec. `help`: the
// output of `nsys launch --help`; if "", only options that every version has are used.
std::vector<std::string> NsysLaunchWords(const NsysLaunch& launch, std::string_view help);

struct NsysStart {
  std::string program = "nsys";
  std::string session;
  std::string report;  // without its ending
};
// The words that start a collection in a launched session, without sampling the CPU. `help`: the
// output of `nsys start --help`.
std::vector<std::string> NsysStartWords(const NsysStart& start, std::string_view help);
std::vector<std::string> NsysStopWords(const std::string& program, const std::string& session);

}  // namespace tacho

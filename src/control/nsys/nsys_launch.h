#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The command lines by which Nsight Systems records an engine: launched under `nsys launch`, which
// records nothing yet, then a `nsys start` and a `nsys stop` for each window. Which command takes
// which option changes with the version (2022.4 takes --sample with the start, and calls it
// deprecated for the launch), so these functions take nsys's help text. Nothing is started here.

// The long options ("--trace") in the output of `nsys COMMAND --help`, without deprecated ones.
// Empty for other text.
std::set<std::string> NsysOptionsIn(std::string_view help);

// The name of the nsys session of a launch by tacho.
std::string NsysSessionName(std::string_view launch);

struct NsysLaunch {
  std::string program = "nsys";
  std::string session;    // its name
  bool os_calls = false;  // records calls of the OS too (osrt): many events
};

// The words before an engine's own command. A session launched with them can record CUDA with the
// nodes of its graphs, NVTX, and processes that fork before they exec. `help`: what `nsys launch
// --help` prints; if it is "", only options that every version knows are used.
std::vector<std::string> NsysLaunchWords(const NsysLaunch& launch, std::string_view help);

struct NsysStart {
  std::string program = "nsys";
  std::string session;
  std::string report;  // without its ending
};
// Starts a collection in a launched session, without samples of the CPU. `help`: what `nsys start
// --help` prints.
std::vector<std::string> NsysStartWords(const NsysStart& start, std::string_view help);
std::vector<std::string> NsysStopWords(const std::string& program, const std::string& session);

}  // namespace tacho

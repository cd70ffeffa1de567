#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace tacho {

inline constexpr const char kNoCorpus[] =
    "THE CORPUS OF REAL TRACES IS NOT HERE: set TACHO_CORPUS to its folder; these tests did not "
    "run";

// The folder of real traces with expected figures: TACHO_CORPUS, else ../shared/traces beside the
// source tree. "" (and a loud line) when it is not there.
inline std::string CorpusFolder() {
  const char* const given = std::getenv("TACHO_CORPUS");
  const std::string folder = given != nullptr ? given : TACHO_SOURCE_DIR "/../shared/traces";
  if (std::filesystem::is_directory(folder)) return folder;
  std::cerr << "\n*** " << kNoCorpus << " (looked in " << folder << ")\n\n";
  return {};
}

}  // namespace tacho

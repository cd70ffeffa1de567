#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tacho {

// The corpus of real traces with expected figures: TACHO_CORPUS, else ../shared/traces beside the
// source tree.
inline std::string CorpusFolder() {
  const char* const given = std::getenv("TACHO_CORPUS");
  return given != nullptr ? given : TACHO_SOURCE_DIR "/../shared/traces";
}

inline bool HasCorpus() { return std::filesystem::is_directory(CorpusFolder()); }

// Why a test is skipped without it.
inline std::string NoCorpus() {
  return "no corpus of real traces at " + CorpusFolder() + " (set TACHO_CORPUS)";
}

}  // namespace tacho

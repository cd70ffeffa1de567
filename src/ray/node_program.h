#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// What tacho does on the nodes of a cluster, below a hidden command word:
//   tacho __node files PATH...      which files with traces this host has, as FilesJson
//   tacho __node own FILES THREADS OPTION...   CommandOfOwnFiles, for what the first one printed
//   tacho __node claim              ClaimFile
//   tacho __node sums PATH...       size and SHA-256 of files, as FileSumsText
//   tacho __node sum STATUS FILE    size and SHA-256 of the results, and the status of their
//   program
inline constexpr std::string_view kNodeWord = "__node";

// Carries out `tacho __node ARGUMENTS` and returns what it prints.
Result<std::string> RunOnNode(const std::vector<std::string>& arguments);

// The most bytes of results that a node may have; read_results.h reads no more.
inline constexpr size_t kMostResults = size_t{256} << 20;

struct ResultsSum {
  int status = 0;  // of the program that wrote the results
  size_t bytes = 0;
  std::string digest;
};
ResultsSum SumOf(int status, std::string_view results);
std::string SumText(const ResultsSum& sum);
// kRemote: the text is not what SumText wrote.
Result<ResultsSum> ParseSum(const std::string& text);

}  // namespace tacho

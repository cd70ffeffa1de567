#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ray/found_files.h"

namespace tacho {

// The shell commands by which a node analyses files. They stand in a shell whose variable d is the
// folder of the run, in the folder of the program: "out.json" there gets the results, "err" what
// was said on standard error, and "sum" what SumText gives.

struct NodeOptions {
  int64_t threads = 0;                // 0: tacho's own default
  std::vector<std::string> analysis;  // words of `tacho analyze`
};

// kRemote: the node has too little memory for it.
Result<std::string> AnalyzeCommand(const NodeMemory& memory, const NodeOptions& options,
                                   const std::vector<std::string>& paths);

// What a node does as soon as it knows its files: it analyses all of them, unless another host may
// see them too, or memory is short; then "".
std::string CommandOfOwnFiles(const NodeFiles& files, const NodeOptions& options);
// Whether `part`, what DivideFiles gave to a node, is what the node analysed so.
bool WereOwnFiles(const NodeFiles& files, const std::vector<std::string>& part);

std::string ShellWords(const std::vector<std::string>& words);

}  // namespace tacho

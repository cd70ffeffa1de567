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

// Whether a node analyses its files as soon as it knows them: all lie on its own disks, and memory
// is not short.
bool AreOwnFiles(const NodeFiles& files);
// The command for that; "" if it does not. It does nothing if another node on this host, such as a
// container, has begun with the first of these files.
std::string CommandOfOwnFiles(const NodeFiles& files, const NodeOptions& options);
// Locks the file that is open in this command's shell. kRemote: another process has locked it.
Result<void> ClaimFile();

std::string ShellWords(const std::vector<std::string>& words);

}  // namespace tacho

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ray/node_memory.h"

namespace tacho {

// A file with traces, as a node sees it.
struct FoundFile {
  std::string path;
  uint64_t device = 0, inode = 0;  // the device's number differs from host to host
  uint64_t bytes = 0;
  int64_t changed_ns = 0;  // Unix time of its last change
};

// What a node has of one of the user's paths.
struct FoundPath {
  std::string path;
  std::vector<FoundFile> files;  // sorted by path
  std::string problem;           // "no such file": why there are none
  bool only_files = false;       // `files` are not all that there are
  bool absent = false;           // the path does not exist there
  bool bare = false;             // it is a folder without traces
  // What cannot be read in such a folder: files with names of traces, folders.
  std::vector<FoundFile> damaged = {};

  // Whether nothing of it is there, not even something damaged.
  [[nodiscard]] bool HasNothing() const { return absent || (bare && damaged.empty()); }
};

struct NodeFiles {
  std::string boot;  // the id of the running kernel: nodes with the same one are one host
  std::vector<FoundPath> paths;
  NodeMemory memory = {};  // Ray's own figures may be a minute old
  // All are regular files on local disks, which other hosts do not see; containers of this host
  // may.
  bool own_disks = false;
};

// Looks for traces on this host.
NodeFiles FindFiles(const std::vector<std::string>& paths);

// As JSON, which has any name of a file.
std::string FilesJson(const NodeFiles& files);
// kRemote: the text is not what FilesJson wrote.
Result<NodeFiles> ParseFiles(std::string_view text);

// Which paths each node analyses. A file that several nodes see is analysed by the first of them:
// on one host these are files with the same device and inode; on different hosts, of a disk that
// they share, files with the same path, inode, size and time. A path whose files are all for this
// node is given as it is (unless only_files), so that its node knows it as the folder of a run;
// else its files are given one by one. Paths with a problem are in no list. Nodes with too little
// memory (MemoryFor) come last.
std::vector<std::vector<std::string>> DivideFiles(const std::vector<NodeFiles>& nodes);

}  // namespace tacho

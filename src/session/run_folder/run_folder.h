#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace tacho {

// Modes of new files; the umask may restrict them further. kForOwner is for files with commands.
inline constexpr mode_t kForAll = 0644, kForOwner = 0600;

// The dated folder of one recording:
//
//   tacho-20261121-183000/
//     run.json          what was done, with what result; written last: a folder without it is a
//                       recording that was cut short
//     traces/           one folder a worker (w0, w1, ...), files as the engine named them
//     plan.json         the load, decided in advance
//     requests.jsonl    one line a request
//     probes.json       what each engine reported of itself
//     metrics/          each engine's metrics before and after
//     logs/             what each engine logged during the recording, if its log can be read
//     commands.sh       the requests that were sent, as curl lines, and how to redo all of it
//
// Each file is written under a temporary name and renamed, so no file is ever half written.
class RunFolder {
 public:
  // Makes PARENT/NAME; if it exists, NAME-2, NAME-3, and so on. kOutput: the folder cannot be made.
  static Result<RunFolder> Create(const std::string& parent, const std::string& name);

  const std::string& path() const { return path_; }
  std::string In(std::string_view name) const;

  // Replaces the file NAME in this folder ("metrics/w0-before.txt"). Makes subfolders as needed.
  Result<void> Write(std::string_view name, std::string_view content, mode_t mode = kForAll) const;

  // Frees the room reserved for run.json, so that it can be written on a full disk.
  void FreeReserve() { reserve_.Close(); }

  // Removes this folder if it holds nothing except empty folders.
  void RemoveEmpty() const;

 private:
  explicit RunFolder(std::string path);
  std::string path_;
  FileDescriptor reserve_;  // a file without a name, which vanishes with the process
};

}  // namespace tacho

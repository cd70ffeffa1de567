#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace tacho {

// Who may read a file, apart from the umask. kForOwner is for commands.
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
//     logs/             what each engine wrote into its log meanwhile, if it can be read
//     commands.sh       the requests that were sent, as curl lines, and how to redo all of it
//
// Files are written beside their places and renamed, so none is ever half written.
class RunFolder {
 public:
  // Makes PARENT/NAME; when it exists, NAME-2, NAME-3, ... kOutput when it cannot.
  static Result<RunFolder> Create(const std::string& parent, const std::string& name);

  const std::string& path() const { return path_; }
  std::string In(std::string_view name) const;

  // Replaces the file NAME of the folder ("metrics/w0-before.txt"; folders are made).
  Result<void> Write(std::string_view name, std::string_view content, mode_t mode = kForAll) const;

  // Frees the room reserved for run.json, so that it can be written on a full disk.
  void FreeReserve() { reserve_.Close(); }

  // Removes the folder again if nothing but empty folders is in it.
  void RemoveEmpty() const;

 private:
  explicit RunFolder(std::string path);
  std::string path_;
  FileDescriptor reserve_;  // a file without a name, which vanishes with the process
};

}  // namespace tacho

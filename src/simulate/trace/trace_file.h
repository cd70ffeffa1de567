#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/byte_sink.h"

namespace tacho::simulate {

// How a trace gets to its file, in the same steps on the file system as the real engines:
//
//   plain  PATH.tmp grows, and is renamed to PATH
//   gzip   TEMP/tmpXXXXXXXX.json is made, empty; the same name with .tmp grows, and is renamed to
//          it; PATH grows from it; the file in TEMP is removed
struct TraceFile {
  std::string path;  // final name
  bool gzip = false;
  int gzip_level = 1;       // the engines use 9
  std::string temp_folder;  // of the JSON before gzip
  bool makes_folder = true;

  // Faults while writing.
  int64_t slow_ns = 0;  // spread over the writing
  bool truncate = false;
  bool disk_full = false;
  bool die = false;
};

enum class FileEnd : uint8_t {
  kWritten,
  kFailed,  // no space, no such folder: `problem` says what the engine would log
  kDied,    // the process died while writing
};
struct FileOutcome {
  FileEnd end = FileEnd::kWritten;
  std::string problem;
  uint64_t json_bytes = 0;
};

// Writes what `content` produces. Blocks; `stop` ends artificial delays.
FileOutcome WriteTraceFile(const TraceFile& file, const std::function<bool(ByteSink&)>& content,
                           std::stop_token stop);

// Writes a small text file directly under its name.
bool WriteTextFile(const std::string& path, const std::string& text);

}  // namespace tacho::simulate

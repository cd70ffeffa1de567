#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/byte_sink.h"

namespace tacho::simulate {

// Where and how a trace is written. On the file system the steps are those of the real engines:
//
//  plain  PATH.tmp grows and is renamed to PATH
//  gzip   an empty TEMP/tmpXXXXXXXX.json is made; the same name with .tmp grows and is renamed to
//         it; PATH grows as the compressed copy; the file in TEMP is removed
struct TraceFile {
  std::string path;  // final name
  bool gzip = false;
  int gzip_level = 1;       // the engines use 9
  std::string temp_folder;  // folder of the JSON that is then compressed
  bool makes_folder = true;

  // Faults during the writing.
  int64_t slow_ns = 0;  // extra time, spread over the writing
  bool truncate = false;
  bool disk_full = false;
  bool die = false;
};

enum class FileEnd : uint8_t {
  kWritten,
  // No space, or no such folder; `problem` holds what the engine would log.
  kFailed,
  kDied,  // the process died while writing
};
struct FileOutcome {
  FileEnd end = FileEnd::kWritten;
  std::string problem;
  uint64_t json_bytes = 0;
};

// Writes the bytes that `content` produces. Blocks; `stop` ends artificial delays.
FileOutcome WriteTraceFile(const TraceFile& file, const std::function<bool(ByteSink&)>& content,
                           std::stop_token stop);

// Writes a small text file in one go, without a temporary name.
bool WriteTextFile(const std::string& path, const std::string& text);

}  // namespace tacho::simulate

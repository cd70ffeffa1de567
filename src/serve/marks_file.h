#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// The marks and notes that a user keeps beside a trace or a folder of traces: at most 1 MB.
// Thread-safe.
class MarksFile {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 20, kMostMarks = 10'000, kMostNote = 4096;

  // `path`: of the file; "": marks cannot be kept.
  explicit MarksFile(std::string path) : path_(std::move(path)) {}

  // The marks in the form of API.md; no marks if there is no file. kUnreadable: the file holds
  // anything else.
  [[nodiscard]] Result<std::string> Read() const;
  // `if_match`: the value of the If-Match header, with the TagOf of the marks to replace; "": any.
  // False: the marks have changed since; they are not replaced. kUsage: `json` is not what API.md
  // says, or too large; kOutput: the file cannot be written; kUnreadable: the file there is no
  // marks file; it is not replaced.
  Result<bool> Replace(std::string_view json, std::string_view if_match = {});
  // The entity tag of what Read returned, with its quotes.
  static std::string TagOf(std::string_view marks);

 private:
  const std::string path_;
  mutable std::mutex mutex_;
};

// "TRACE.tacho-marks.json" beside a file, "FOLDER/tacho-marks.json" in a folder; "" for standard
// input.
std::string MarksPathOf(const std::string& path);

}  // namespace tacho

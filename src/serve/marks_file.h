#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// The file of the marks and notes that a user keeps beside a trace or a folder of traces: at most 1
// MB. Thread-safe.
class MarksFile {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 20, kMostMarks = 10'000, kMostNote = 4096;

  // `path`: the file; "" if marks cannot be kept.
  explicit MarksFile(std::string path) : path_(std::move(path)) {}

  // The marks as API.md describes them; no marks if there is no file. kUnreadable: the file is not
  // a marks file.
  [[nodiscard]] Result<std::string> Read() const;
  // Replaces the marks. `if_match`: the value of an If-Match header with the entity tag (TagOf) of
  // the marks to replace; "": replaces any. If the marks have another tag by now, keeps them and
  // returns false. kUsage: `json` is not what API.md describes, or is too large. kOutput: the file
  // cannot be written. kUnreadable: the existing file is not a marks file; it is kept.
  Result<bool> Replace(std::string_view json, std::string_view if_match = {});
  // The entity tag of marks that Read returned, with its quotes.
  static std::string TagOf(std::string_view marks);

 private:
  const std::string path_;
  mutable std::mutex mutex_;
};

// Where the marks of a trace or folder lie: "TRACE.tacho-marks.json" beside a file,
// "FOLDER/tacho-marks.json" in a folder; "" for standard input.
std::string MarksPathOf(const std::string& path);

}  // namespace tacho

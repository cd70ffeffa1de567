#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// The size of a file and the SHA-256 of its bytes, in Base64.
struct FileSum {
  uint64_t bytes = 0;
  std::string digest;
  bool operator==(const FileSum&) const = default;
};
// Reads the file in pieces. kUnreadable: it is no regular file, or cannot be read.
Result<FileSum> SumOfFile(const std::string& path);

// A line for each file, in order: its sum, or why it has none.
std::string FileSumsText(const std::vector<std::string>& paths);
// kRemote: the text is not what FileSumsText wrote for `files` files.
Result<std::vector<Result<FileSum>>> ParseFileSums(const std::string& text, size_t files);

}  // namespace tacho

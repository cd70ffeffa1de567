#include "io/read_whole.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "io/block_stream.h"

namespace tacho {

Result<std::string> ReadWholeFile(const std::string& path, size_t most) {
  TACHO_ASSIGN_OR_RETURN(auto stream, OpenStream(path, StreamThreads::kInline));
  std::string text;
  // Reserve what a plain file needs, and room for a parser that reads beyond the end.
  std::error_code unknown;
  if (const uintmax_t stored = std::filesystem::file_size(path, unknown); !unknown)
    text.reserve(std::min<uintmax_t>(stored, most) + BlockStream::kTailroom);
  for (Block block = stream->Next(); block.size > 0; block = stream->Next()) {
    text.append(block.data, block.size);
    if (text.size() > most) {
      return FailAt(ErrorKind::kUsage, path, fmt::format("larger than {} bytes", most));
    }
  }
  if (stream->defect() != StreamDefect::kNone) {
    return FailAt(ErrorKind::kUnreadable, path, stream->defect_text());
  }
  return text;
}

}  // namespace tacho

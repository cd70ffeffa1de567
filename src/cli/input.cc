#include "cli/input.h"

#include <fmt/format.h>

#include "io/block_stream.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {

Result<std::string> ReadInput(const std::string& path, size_t most) {
  auto stream = OpenStream(path, StreamThreads::kInline);
  if (!stream) return tl::unexpected<Error>(stream.error());
  std::string text;
  for (Block block = (*stream)->Next(); block.size > 0; block = (*stream)->Next()) {
    text.append(block.data, block.size);
    if (text.size() > most) {
      return Fail(ErrorKind::kUsage, fmt::format("{}: larger than {}", VisibleText(path),
                                                 FormatBytes(static_cast<int64_t>(most))));
    }
  }
  if ((*stream)->defect() != StreamDefect::kNone) {
    return Fail(ErrorKind::kUnreadable, VisibleText(path) + ": " + (*stream)->defect_text());
  }
  return text;
}

}  // namespace tacho

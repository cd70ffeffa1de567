#include "control/log/log_stream.h"

#include <cstring>
#include <string>

namespace tacho {

void ForEachLogLine(std::istream& log, const std::stop_token& stop,
                    const std::function<bool(std::string_view)>& visit) {
  std::string piece(size_t{1} << 20, '\0');
  size_t kept = 0;  // bytes of a line whose end is not read yet
  while (!stop.stop_requested()) {
    log.read(piece.data() + kept, static_cast<std::streamsize>(piece.size() - kept));
    const auto read = static_cast<size_t>(log.gcount());
    std::string_view text(piece.data(), kept + read);
    while (!text.empty()) {
      const size_t end = text.find('\n');
      if (end == text.npos && read > 0 && text.size() < piece.size()) break;
      if (!visit(text.substr(0, end))) return;
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    if (read == 0) return;
    kept = text.size();
    std::memmove(piece.data(), text.data(), kept);
  }
}

}  // namespace tacho

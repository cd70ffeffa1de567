#include "cli/screen/progress_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/drawing.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kBarWidth = 30;

}  // namespace

std::string ProgressLine(uint64_t done, uint64_t total, uint64_t files, double seconds,
                         const TextStyle& style) {
  std::string line = "reading " + FormatCounted(files, "trace");
  if (total > 0) {
    const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    line += fmt::format(", {}  {} {:>3.0f} %", FormatBytes(total),
                        PadRight(Bar(share, kBarWidth, style), kBarWidth), share * 100);
  } else {
    line += fmt::format(", {}", FormatBytes(done));
  }
  return line + fmt::format("  {:.1f} s", seconds);
}

std::string ExportLine(const std::string& exporting, double share, double seconds) {
  return fmt::format("exporting {}  {:>3.0f} %  {:.1f} s", VisibleText(exporting), share * 100,
                     seconds);
}

std::string ReadLine(uint64_t bytes, double seconds) {
  return fmt::format("read {} in {:.1f} s", FormatBytes(bytes), seconds);
}

}  // namespace tacho

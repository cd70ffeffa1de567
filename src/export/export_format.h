#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

enum class ExportFormat : uint8_t {
  kKineto,
  kPerfetto,
  kSpeedscope,
  kFolded,
  kStacks,
  kCsv,
  kSqlite
};

// As `--format` accepts them.
std::vector<std::string> FormatNames();
std::optional<ExportFormat> FormatOfName(std::string_view name);

// By the endings of a file's name: "run.json.gz", "run.db". nullopt: no format has it.
std::optional<ExportFormat> FormatOfFile(std::string_view path);
// Whether the name says that it is compressed: it ends with ".gz".
bool IsGzipName(std::string_view path);

// Whether a file that begins with `start` is an earlier export in that format, which a new one may
// replace. `start`: the first kExportSniff bytes of the file, unpacked.
inline constexpr size_t kExportSniff = 4096;
bool LooksExported(ExportFormat format, std::string_view start);

}  // namespace tacho

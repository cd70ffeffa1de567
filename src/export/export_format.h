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

// The names that `--format` accepts.
std::vector<std::string> FormatNames();
std::optional<ExportFormat> FormatOfName(std::string_view name);

// The format of a file by its extension: "run.json.gz", "run.db". nullopt: no format has this
// extension.
std::optional<ExportFormat> FormatOfFile(std::string_view path);
// Whether a file name ends with ".gz", so that the file should be compressed.
bool IsGzipName(std::string_view path);

// Whether a file is an earlier export by tacho in this format, so that a new export may replace it.
// `start`: the first kExportSniff bytes of the file, decompressed.
inline constexpr size_t kExportSniff = 4096;
bool LooksExported(ExportFormat format, std::string_view start);

}  // namespace tacho

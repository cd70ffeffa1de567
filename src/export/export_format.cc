#include "export/export_format.h"

#include <algorithm>
#include <array>

#include "export/folded_stacks.h"
#include "export/gpu_csv.h"
#include "export/kineto_json.h"
#include "export/perfetto_trace.h"
#include "export/speedscope.h"
#include "export/sqlite_file.h"
#include "io/content_kind.h"

namespace tacho {
namespace {

struct FormatRow {
  ExportFormat format;
  std::string_view name;
  // Longer extensions come first: ".speedscope.json" before ".json".
  std::vector<std::string_view> endings;
};

const std::vector<FormatRow>& FormatRows() {
  using enum ExportFormat;
  static const std::vector<FormatRow> rows = {
      {kSpeedscope, "speedscope", {".speedscope.json"}},
      {kKineto, "kineto", {".json"}},
      {kPerfetto, "perfetto", {".pftrace", ".perfetto-trace"}},
      {kFolded, "folded", {".folded", ".collapsed"}},
      {kStacks, "stacks", {".stacks"}},
      {kCsv, "csv", {".csv"}},
      {kSqlite, "sqlite", {".sqlite", ".sqlite3", ".db"}},
  };
  return rows;
}

bool IsOurDatabase(std::string_view start) {
  constexpr size_t kIdAt = 68;  // https://www.sqlite.org/fileformat.html#application_id
  if (!start.starts_with("SQLite format 3") || start.size() < kIdAt + 4) return false;
  uint32_t id = 0;
  for (size_t i = 0; i < 4; ++i) id = id << 8 | static_cast<unsigned char>(start[kIdAt + i]);
  return id == kSqliteApplicationId;
}

}  // namespace

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const FormatRow& row : FormatRows()) names.emplace_back(row.name);
  return names;
}

std::optional<ExportFormat> FormatOfName(std::string_view name) {
  const auto row = std::ranges::find(FormatRows(), name, &FormatRow::name);
  return row == FormatRows().end() ? std::nullopt : std::optional(row->format);
}

bool IsGzipName(std::string_view path) { return path.ends_with(".gz"); }

std::optional<ExportFormat> FormatOfFile(std::string_view path) {
  if (IsGzipName(path)) path.remove_suffix(3);
  for (const FormatRow& row : FormatRows()) {
    for (const std::string_view ending : row.endings) {
      if (path.ends_with(ending)) return row.format;
    }
  }
  return std::nullopt;
}

bool LooksExported(ExportFormat format, std::string_view start) {
  switch (format) {
    case ExportFormat::kKineto:
      return start.starts_with(kKinetoExportBegin);
    case ExportFormat::kPerfetto:
      return IsPerfettoExport(start);
    case ExportFormat::kSpeedscope:
      return start.starts_with(kSpeedscopeBegin);
    case ExportFormat::kFolded:
    case ExportFormat::kStacks:
      return LooksFolded(start);
    case ExportFormat::kCsv:
      return start.starts_with(kGpuCsvBegin);
    case ExportFormat::kSqlite:
      return IsOurDatabase(start);
  }
  return false;
}

}  // namespace tacho

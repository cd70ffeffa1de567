#include "io/content_kind.h"

#include <algorithm>
#include <array>

#include "io/decode.h"
#include "io/foreign_files.h"
#include "io/perfetto_magic.h"
#include "io/trace_json.h"

namespace tacho {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSqliteMagic = "SQLite format 3\0"sv;
constexpr std::string_view kNsysMagic = "NVIDIA Tegra Profiler Report";
// These bytes come after some that differ between files.
constexpr std::string_view kNsysStreamMagic = "[END]NVIDIA Nsight Systems Stream ";
constexpr size_t kNsysStreamWithin = 64;
constexpr std::string_view kNcuMagic = "NVR\0"sv;
constexpr std::string_view kRocprofKey = "\"rocprofiler-sdk-tool\"";  // the only top-level key
constexpr size_t kRocprofWithin = 64;
constexpr std::array kForeignMagics = {
    "\xfd"
    "7zXZ\0"sv,
    "BZh"sv, "\x04\x22\x4d\x18"sv, "7z\xbc\xaf\x27\x1c"sv, "Rar!\x1a\x07"sv};
constexpr std::array kZipMagics = {"PK\x03\x04"sv, "PK\x05\x06"sv, "PK\x07\x08"sv};
// Names of tables and indexes that stand in the schema at the start of every nsys export.
constexpr std::array kNsysTables = {"StringIds"sv, "TARGET_INFO_"sv, "CUPTI_ACTIVITY_KIND_"sv,
                                    "META_DATA_EXPORT"sv};

template <size_t kCount>
bool StartsWithOne(std::string_view text, const std::array<std::string_view, kCount>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

template <size_t kCount>
bool ContainsOne(std::string_view text, const std::array<std::string_view, kCount>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

// Whether a tar header begins here, judged by the header's checksum; so it recognises archives from
// before "ustar" too.
bool StartsTar(std::string_view start) {
  constexpr size_t kHeaderSize = 512;
  constexpr size_t kSumAt = 148;
  constexpr size_t kSumSize = 8;
  if (start.size() < kHeaderSize || start[0] == '\0') return false;
  unsigned sum = 0;
  for (size_t i = 0; i < kHeaderSize; ++i) {
    const bool in_sum = i >= kSumAt && i < kSumAt + kSumSize;
    sum += in_sum ? static_cast<unsigned>(' ') : static_cast<unsigned char>(start[i]);
  }
  const std::string_view field = start.substr(kSumAt, kSumSize);
  const size_t first = field.find_first_not_of(' ');
  if (first == std::string_view::npos) return false;
  unsigned stored = 0;
  for (const char c : field.substr(first)) {
    if (c < '0' || c > '7') break;
    stored = stored * 8 + static_cast<unsigned>(c - '0');
  }
  return stored == sum;
}

// Results begin with `{"schema": 1, "tacho": {...}, "verdict": ` or, if they cover no traces, with
// `"traces": ` in place of `"verdict": `. If the file is cut off earlier, `start` must agree as far
// as it goes and hold at least `{"schema"`. tacho's other documents have another key there.
bool LooksLikeResults(std::string_view start) {
  const auto take = [&](std::string_view text) {
    start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n,:"), start.size()));
    const size_t there = std::min(text.size(), start.size());
    if (start.substr(0, there) != text.substr(0, there)) return false;
    start.remove_prefix(there);
    return true;
  };
  if (!take("{") || !take("\"schema\"") || start.empty()) return false;
  start.remove_prefix(std::min(start.find_first_of(",{}["), start.size()));
  if (!take("\"tacho\"")) return false;
  start.remove_prefix(std::min(start.find('}'), start.size()));
  return take("}") && (take("\"verdict\"") || take("\"traces\""));
}

bool IsText(std::string_view start) {
  return std::none_of(start.begin(), start.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\x1b';
  });
}

}  // namespace

ContentKind KindOf(std::string_view start) {
  start = start.substr(0, kSniffBytes);
  if (start.empty()) return ContentKind::kEmpty;
  if (LooksLikeTraceJson(start)) return ContentKind::kChromeJson;
  if (start.starts_with(kSqliteMagic)) {
    if (ContainsOne(start, kNsysTables)) return ContentKind::kNsysSqlite;
    return ForeignDatabase(start).empty() ? ContentKind::kSqlite : ContentKind::kForeign;
  }
  if (start.starts_with(kNsysMagic)) return ContentKind::kNsysReport;
  if (start.substr(0, kNsysStreamWithin).find(kNsysStreamMagic) != std::string_view::npos) {
    return ContentKind::kNsysStream;
  }
  if (start.starts_with(kNcuMagic)) return ContentKind::kNcuReport;
  if (StartsWithOne(start, kZipMagics)) return ContentKind::kZip;
  if (StartsTar(start)) return ContentKind::kTar;
  if (StartsWithOne(start, kForeignMagics) || PackingOf(start) != Packing::kPlain) {
    return ContentKind::kForeignPack;
  }
  if (LooksLikePerfetto(start)) return ContentKind::kPerfetto;
  const bool is_text = IsText(start);
  if (!is_text && !ForeignProfile(start).empty()) return ContentKind::kForeign;
  if (!LooksLikeJson(start)) {
    if (IsLfsPointer(start)) return ContentKind::kLfsPointer;
    if (!ForeignFile(start).empty()) return ContentKind::kForeignFile;
    return is_text ? ContentKind::kText : ContentKind::kOther;
  }
  if (!is_text) return ContentKind::kOther;
  if (LooksLikeResults(start)) return ContentKind::kResults;
  return start.substr(0, kRocprofWithin).find(kRocprofKey) == std::string_view::npos
             ? ContentKind::kOtherJson
             : ContentKind::kRocprofJson;
}

std::string RemedyFor(ContentKind kind, std::string_view start) {
  constexpr std::string_view kKineto =
      "record with torch.profiler instead (vLLM, SGLang: their profile endpoints), which writes "
      ".pt.trace.json.gz";
  const auto with_kineto = [&](std::string_view what) { return std::string(what).append(kKineto); };
  switch (kind) {
    case ContentKind::kNsysReport:
      return "is an Nsight Systems report, which only nsys can open: name the file itself, and "
             "tacho "
             "lets an installed nsys export it, or do so with nsys export --type sqlite";
    case ContentKind::kNsysStream:
      return "is a raw recording of Nsight Systems, which only its QdstrmImporter can open: name "
             "the file itself, and tacho lets an installed nsys import and export it";
    case ContentKind::kNcuReport:
      return with_kineto(
          "is an Nsight Compute report, which has the counters of single kernels and no time "
          "line: ");
    case ContentKind::kPerfetto:
      return with_kineto(
          "is a Perfetto protobuf trace, which this version does not read: if tacho export wrote "
          "it, name the trace that it was made from; if torch did (export_chrome_trace with "
          ".pftrace in the path), let it write .json.gz; else ");
    case ContentKind::kRocprofJson:
      return with_kineto("is rocprofv3's own JSON, which this version does not read: ");
    case ContentKind::kForeign:
      return start.starts_with(kSqliteMagic) ? ForeignDatabase(start) : ForeignProfile(start);
    case ContentKind::kForeignFile:
      return ForeignFile(start);
    case ContentKind::kLfsPointer:
      return LfsRemedy(start);
    case ContentKind::kForeignPack:
      return "is packed in a way that is not unpacked here (xz, bzip2, lz4, 7z, rar, or packed "
             "twice): "
             "unpack it first, or pack it with gzip or zstd";
    default:
      return "";
  }
}

}  // namespace tacho

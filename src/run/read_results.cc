#include "run/read_results.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/ranks/digest_bytes.h"
#include "analysis/schema/trace_fields.h"
#include "base/base64.h"
#include "io/json_reader.h"
#include "io/read_whole.h"
#include "run/read_blame.h"

namespace tacho {
namespace {

constexpr size_t kMostBytes = size_t{256} << 20;

// Replaces the text of a digest by the digest.
Result<void> TakeDigest(TraceAnalysis& trace) {
  if (trace.digest_text.empty()) return {};
  const auto bytes = FromBase64(std::exchange(trace.digest_text, ""));
  TACHO_ASSIGN_OR_RETURN(TraceDigest digest, ReadDigest(bytes.value_or("")));
  trace.digest = std::make_shared<const TraceDigest>(std::move(digest));
  return {};
}

}  // namespace

Result<Results> ParseResults(std::string json) {
  if (json.size() > kMostBytes)
    return Fail(ErrorKind::kUnreadable,
                fmt::format("results of {} MB, where at most {} MB can be read back: analyse fewer "
                            "ranks, or a shorter --window",
                            json.size() >> 20, kMostBytes >> 20));
  auto parsed = JsonReader::Parse(std::move(json));
  if (!parsed) {
    return Fail(ErrorKind::kUnreadable, "results of tacho analyze, " + parsed.error().message +
                                            ": copy the file again, or analyse the traces again");
  }
  JsonReader& reader = *parsed;
  int schema = 0;
  reader.Field("schema", schema);
  TACHO_RETURN_IF_ERROR(reader.Finish());
  if (schema != schema::kVersion) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("results of schema {}, where this tacho reads schema {}: analyse the "
                            "traces again",
                            schema, schema::kVersion));
  }
  Results results;
  uint64_t missing = 0;
  reader.BeginObject("ranks");
  reader.Field("missing_count", missing);
  struct RowPath {
    std::string path;
  };
  std::vector<RowPath> rows;
  reader.Rows("table", rows, [&](RowPath& row) { reader.Field("path", row.path); });
  results.rank_rows = rows.size();
  results.blame = ReadBlame(reader, rows.size());
  reader.End();
  reader.Objects("traces", results.traces, [&](TraceAnalysis& trace) {
    schema::TraceFields(reader, trace, [](const KernelRow& row) { return row.name; });
  });
  if (reader.Has("together")) {
    reader.Objects("together", results.together,
                   [&](SlicesTogether& slices) { schema::Together(reader, slices); });
  }
  reader.List("skipped", results.skipped);
  if (reader.Has("captures")) reader.List("captures", results.captures);
  if (reader.Has("failed")) reader.List("failed", results.failed);
  if (reader.Has("unproven")) reader.List("unproven", results.unproven);
  results.is_collection = missing > 0 || !results.unproven.empty();
  TACHO_RETURN_IF_ERROR(reader.Finish());
  for (TraceAnalysis& trace : results.traces) {
    TACHO_RETURN_IF_ERROR(TakeDigest(trace));
  }
  std::erase_if(results.together,
                [](const SlicesTogether& slices) { return slices.paths.empty(); });
  return results;
}

Result<Results> ReadResults(const TraceSource& source) {
  auto text = ReadWholeFile(source.path, kMostBytes);
  if (!text) {
    Error error = text.error();
    error.kind = ErrorKind::kUnreadable;
    return tl::unexpected<Error>(std::move(error));
  }
  auto results = ParseResults(*std::move(text));
  if (!results) return tl::unexpected<Error>(results.error().WithContext(source.path));
  return results;
}

}  // namespace tacho

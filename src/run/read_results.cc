#include "run/read_results.h"

#include <fmt/format.h>

#include "analysis/schema/trace_fields.h"
#include "io/json_reader.h"
#include "io/read_whole.h"

namespace tacho {
namespace {

constexpr size_t kMostBytes = 256u << 20;
constexpr int kSchema = 1;

}  // namespace

Result<Results> ParseResults(std::string_view json) {
  TACHO_ASSIGN_OR_RETURN(JsonReader reader, JsonReader::Parse(json));
  int schema = 0;
  bool summary = false;
  reader.Fields("schema", schema, "summary", summary);
  if (schema != kSchema && reader.Finish()) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("results of schema {}, where this tacho reads schema {}: analyse the "
                            "traces again",
                            schema, kSchema));
  }
  if (summary)
    return Fail(ErrorKind::kUnreadable, "totals of --summary, where the whole results are needed");
  if (!reader.Has("traces")) return Fail(ErrorKind::kUnreadable, "no results of tacho analyze");
  Results results;
  results.is_collection = reader.Has("ranks");
  reader.Objects("traces", results.traces, [&](TraceAnalysis& trace) {
    schema::TraceFields(reader, trace, [](const KernelRow& row) { return row.name; });
  });
  reader.Objects("together", results.together,
                 [&](SlicesTogether& slices) { schema::Together(reader, slices); });
  reader.List("skipped", results.skipped);
  TACHO_RETURN_IF_ERROR(reader.Finish());
  std::erase_if(results.together,
                [](const SlicesTogether& slices) { return slices.paths.empty(); });
  return results;
}

Result<Results> ReadResults(const TraceSource& source) {
  TACHO_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(source.path, kMostBytes));
  auto results = ParseResults(text);
  if (!results) return tl::unexpected<Error>(results.error().WithContext(source.path));
  return results;
}

}  // namespace tacho

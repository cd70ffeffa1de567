// The table `slices`: all slices of the traces.
#include <array>

#include "base/json_text.h"
#include "query/query_table.h"

namespace tacho {
namespace {

SlicesOf TableOf(const QueryRow& row) { return static_cast<SlicesOf>(row.part); }
const SliceTable& SlicesAt(const QueryRow& row) { return row.trace->Slices(TableOf(row)); }

// The names of the kinds of slices. Each table has one kind. The GPU's table also has copies and
// memsets; these two kinds come last.
constexpr std::array<std::string_view, kSliceTables + 2> kKindNames{
    "kernel", "operator", "call", "annotation", "gpu-annotation",
    "other",  "python",   "copy", "memset"};
uint32_t SliceKindAt(const QueryRow& row) {
  if (TableOf(row) != SlicesOf::kGpu) return row.part;
  switch (row.trace->trace().gpu.kind[row.row]) {
    case SliceKind::kMemcpy:
      return kSliceTables;
    case SliceKind::kMemset:
      return kSliceTables + 1;
    default:
      return 0;
  }
}

// The category in the file, as a word (QueryWords): the trace's CategoryId, or, for a table without
// categories, 256 plus the number of the kind.
constexpr std::array<std::string_view, kSliceTables + 2> kFileCategories{
    "kernel", "cpu_op",          "",           "user_annotation", "gpu_user_annotation",
    "",       "python_function", "gpu_memcpy", "gpu_memset"};
uint32_t CategoryOfSlice(const QueryRow& row) {
  const Trace& trace = row.trace->trace();
  if (TableOf(row) == SlicesOf::kHostCalls) return Index(trace.host_calls.category[row.row]);
  if (TableOf(row) == SlicesOf::kOthers) return Index(trace.others.category[row.row]);
  return 256 + SliceKindAt(row);
}

QueryWords NameWords() {
  return {[](const QueryRow& row) { return Index(SlicesAt(row).name[row.row]); }, StringCount,
          StringOf};
}
QueryWords TrackWords(std::optional<std::string_view> (*text)(const QueriedTrace&, uint32_t)) {
  return {[](const QueryRow& row) { return Index(SlicesAt(row).track[row.row]); }, TrackCount,
          text};
}
// The stream as a word: 0 if there is none, else StreamId + 1.
QueryWords StreamWords(std::optional<std::string_view> (*text)(const QueriedTrace&, uint32_t)) {
  return {[](const QueryRow& row) {
            return TableOf(row) == SlicesOf::kGpu
                       ? Index(row.trace->trace().gpu.stream[row.row]) + 1
                       : 0;
          },
          [](const QueriedTrace& trace) { return trace.trace().words.streams().size() + 1; }, text};
}

QueryValue Correlation(const QueryRow& row) {
  const Trace& trace = row.trace->trace();
  if (TableOf(row) == SlicesOf::kGpu) return KnownOrNull(trace.gpu.correlation[row.row]);
  if (TableOf(row) == SlicesOf::kHostCalls)
    return KnownOrNull(trace.host_calls.correlation[row.row]);
  return {};
}
QueryValue ExternalId(const QueryRow& row) {
  const Trace& trace = row.trace->trace();
  if (TableOf(row) == SlicesOf::kGpu) return KnownOrNull(trace.gpu.external_id[row.row]);
  if (TableOf(row) == SlicesOf::kHostOps) return KnownOrNull(trace.host_ops.external_id[row.row]);
  return {};
}
QueryValue ArgsOfRow(const QueryRow& row) {
  const std::string text =
      ArgsText(row.trace->trace(), row.trace->ArgsOfSlice({TableOf(row), row.row}));
  return text.empty() ? QueryValue() : QueryValue(CompactJson(text));
}

std::vector<QueryColumn> SliceColumns() {
  using enum QueryRole;
  return {
      {"id", "INTEGER", "number of the slice in the run, from 1", kKey,
       [](const QueryRow& row) { return QueryValue(row.trace->IdOf(TableOf(row), row.row)); }},
      RankColumn(),
      TraceColumn(),
      WorkerColumn(),
      {"kind",
       "TEXT",
       "kernel, copy, memset, operator, call, annotation, gpu-annotation, python or other",
       kPlain,
       nullptr,
       {SliceKindAt, [](const QueriedTrace&) { return kKindNames.size(); },
        [](const QueriedTrace&, uint32_t kind) { return std::optional(kKindNames[kind]); }}},
      {"category",
       "TEXT",
       "as in the file: cpu_op, cuda_runtime",
       kPlain,
       nullptr,
       {CategoryOfSlice, [](const QueriedTrace&) { return 256 + kFileCategories.size(); },
        [](const QueriedTrace& trace, uint32_t word) {
          const Vocabulary& words = trace.trace().words;
          return std::optional(word < 256 ? trace.Text(words[static_cast<CategoryId>(word)].name)
                                          : kFileCategories[word - 256]);
        }}},
      {"name", "TEXT", "as in the file", kPlain, nullptr, NameWords()},
      {"process", "TEXT", "the process's id, as in the file", kPlain, nullptr,
       TrackWords(ProcessOfTrack)},
      {"thread", "TEXT", "the thread's id, as in the file", kPlain, nullptr,
       TrackWords(ThreadOfTrack)},
      {"device", "TEXT", "of GPU work, by the trace's own id", kPlain, nullptr,
       StreamWords([](const QueriedTrace& trace, uint32_t word) {
         return word == 0
                    ? std::nullopt
                    : std::optional(trace.Text(trace.trace().words.streams()[word - 1].device));
       })},
      {"stream", "TEXT", "of GPU work, by the trace's own id", kPlain, nullptr,
       StreamWords([](const QueriedTrace& trace, uint32_t word) {
         return word == 0
                    ? std::nullopt
                    : std::optional(trace.Text(trace.trace().words.streams()[word - 1].stream));
       })},
      {"start_ns", "INTEGER", "on the clock of the trace; plus ranks.base_time_ns: Unix time",
       kStart, [](const QueryRow& row) { return QueryValue(SlicesAt(row).start[row.row].ns); }},
      {"dur_ns", "INTEGER", "how long it took", QueryRole::kPlain,
       [](const QueryRow& row) { return QueryValue(SlicesAt(row).duration[row.row]); }},
      {"end_ns", "INTEGER", "start_ns + dur_ns", kEnd,
       [](const QueryRow& row) { return QueryValue(SlicesAt(row).When(row.row).end.ns); }},
      {"correlation", "INTEGER", "joins GPU work and the call that launched it", QueryRole::kPlain,
       Correlation},
      {"external_id", "INTEGER", "joins GPU work and an operator", QueryRole::kPlain, ExternalId},
      {"args", "TEXT", "all arguments as JSON; arg(id, 'name') gives one", QueryRole::kPlain,
       ArgsOfRow},
  };
}

}  // namespace

QueryTable SlicesQueryTable() {
  return {.name = "slices",
          .says = "everything with a start and a duration",
          .columns = SliceColumns(),
          .parts = [](const QueriedTrace&) { return uint32_t{kSliceTables}; },
          .rows = [](const QueriedTrace& trace,
                     uint32_t part) { return trace.Slices(static_cast<SlicesOf>(part)).size(); },
          .lanes = [](const QueriedTrace& trace,
                      uint32_t part) { return &trace.Lanes(static_cast<SlicesOf>(part)); },
          .find = [](const QueriedTrace& trace, int64_t id) -> std::optional<QueryRow> {
            const auto slice = trace.FindId(id);
            if (!slice) return std::nullopt;
            return QueryRow{&trace, static_cast<uint32_t>(slice->table), slice->row};
          }};
}

}  // namespace tacho

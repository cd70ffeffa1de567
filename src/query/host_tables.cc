// The tables `launches` and `operators`.
#include "query/query_table.h"

namespace tacho {
namespace {

// Columns of an SQL table with one row for each slice in `kTable`.
template <SlicesOf kTable>
struct Of {
  static const SliceTable& Slices(const QueryRow& row) { return row.trace->Slices(kTable); }
  static QueryValue Id(const QueryRow& row) { return row.trace->IdOf(kTable, row.row); }
  static QueryValue Start(const QueryRow& row) { return Slices(row).start[row.row].ns; }
  static QueryValue Duration(const QueryRow& row) { return Slices(row).duration[row.row]; }
  static QueryValue End(const QueryRow& row) { return Slices(row).When(row.row).end.ns; }
  static uint32_t Name(const QueryRow& row) { return Index(Slices(row).name[row.row]); }
  static uint32_t Track(const QueryRow& row) { return Index(Slices(row).track[row.row]); }
  static size_t Rows(const QueriedTrace& trace, uint32_t) { return trace.Slices(kTable).size(); }
  static const LaneRows* Lanes(const QueriedTrace& trace, uint32_t) { return &trace.Lanes(kTable); }

  static std::vector<QueryColumn> Columns(std::vector<QueryColumn> more) {
    using enum QueryRole;
    std::vector<QueryColumn> columns = {
        {"id", "INTEGER", "its slice", kKey, Id},
        RankColumn(),
        TraceColumn(),
        WorkerColumn(),
        {"name", "TEXT", "as in the file", kPlain, nullptr, {Name, StringCount, StringOf}},
        {"process",
         "TEXT",
         "the process's id",
         kPlain,
         nullptr,
         {Track, TrackCount, ProcessOfTrack}},
        {"thread", "TEXT", "the thread's id", kPlain, nullptr, {Track, TrackCount, ThreadOfTrack}},
        {"start_ns", "INTEGER", "on the clock of the trace", kStart, Start},
        {"dur_ns", "INTEGER", "how long it took on the host", kPlain, Duration},
        {"end_ns", "INTEGER", "start_ns + dur_ns", kEnd, End}};
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
  }
};
using OfCalls = Of<SlicesOf::kHostCalls>;
using OfOps = Of<SlicesOf::kHostOps>;

bool LaunchedSomething(const QueryRow& row) {
  return row.trace->prepared().links.first.LaunchedWork(row.row);
}

uint32_t FirstWork(const QueryRow& row) {
  return row.trace->prepared().links.first.FirstOf(row.row);
}

QueryValue Delay(const QueryRow& row) { return KnownOrNull(row.trace->DelayOf(FirstWork(row))); }

template <auto kMember>
QueryValue TimeOfOp(const QueryRow& row) {
  const auto times = row.trace->TimesOfOp(row.row);
  return times ? QueryValue((*times).*kMember) : QueryValue();
}

}  // namespace

QueryTable LaunchesQueryTable() {
  using enum QueryRole;
  return {.name = "launches",
          .says = "host calls that put work onto a GPU",
          .columns = OfCalls::Columns({
              {"pieces", "INTEGER", "kernels, copies and memsets that it launched", kPlain,
               [](const QueryRow& row) {
                 return QueryValue(int64_t{row.trace->PiecesOfCall(row.row)});
               }},
              {"work_id", "INTEGER", "the first of them, a slice", kPlain,
               [](const QueryRow& row) {
                 return IdOrNull(*row.trace, SlicesOf::kGpu, FirstWork(row));
               }},
              {"delay_ns", "INTEGER", "from its end to that, at least 0; NULL: no common clock",
               kPlain, Delay},
              {"operator_id", "INTEGER", "the innermost operator around the call", kPlain,
               [](const QueryRow& row) {
                 return IdOrNull(*row.trace, SlicesOf::kHostOps, row.trace->OpOfCall(row.row));
               }},
          }),
          .rows = OfCalls::Rows,
          .has = LaunchedSomething,
          .lanes = OfCalls::Lanes,
          .find = [](const QueriedTrace& trace, int64_t id) -> std::optional<QueryRow> {
            const auto slice = trace.FindId(id);
            if (!slice || slice->table != SlicesOf::kHostCalls) return std::nullopt;
            const QueryRow row{&trace, 0, slice->row};
            return LaunchedSomething(row) ? std::optional(row) : std::nullopt;
          }};
}

QueryTable OperatorsQueryTable() {
  using enum QueryRole;
  using Times = QueriedTrace::OpTimes;
  return {.name = "operators",
          .says = "host operators (cpu_op), such as aten::mm",
          .columns = OfOps::Columns({
              {"parent_id", "INTEGER", "the operator around it", kPlain,
               [](const QueryRow& row) {
                 return IdOrNull(*row.trace, SlicesOf::kHostOps, row.trace->ParentOfOp(row.row));
               }},
              {"self_ns", "INTEGER", "dur_ns without what ran inside", kPlain,
               TimeOfOp<&Times::self_ns>},
              {"device_self_ns", "INTEGER", "GPU work that it launched itself", kPlain,
               TimeOfOp<&Times::device_self_ns>},
              {"device_ns", "INTEGER", "that, and what operators inside it launched", kPlain,
               TimeOfOp<&Times::device_ns>},
          }),
          .rows = OfOps::Rows,
          .lanes = OfOps::Lanes,
          .find = [](const QueriedTrace& trace, int64_t id) -> std::optional<QueryRow> {
            const auto slice = trace.FindId(id);
            if (!slice || slice->table != SlicesOf::kHostOps) return std::nullopt;
            return QueryRow{&trace, 0, slice->row};
          }};
}

}  // namespace tacho

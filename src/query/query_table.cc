#include "query/query_table.h"

namespace tacho {

const std::vector<QueryTable>& QueryTables() {
  static const std::vector<QueryTable> tables = {
      SlicesQueryTable(), KernelsQueryTable(), LaunchesQueryTable(), OperatorsQueryTable(),
      StepsQueryTable(),  GapsQueryTable(),    DevicesQueryTable(),  LayersQueryTable(),
      RanksQueryTable(),  NotesQueryTable()};
  return tables;
}

QueryValue ValueOf(const QueryColumn& column, const QueryRow& row) {
  if (column.value != nullptr) return column.value(row);
  const auto text = column.words.text(*row.trace, column.words.of(row));
  return text ? QueryValue(*text) : QueryValue();
}

QueryColumn RankColumn() {
  return {"rank", "INTEGER", "rank of the trace", QueryRole::kRank,
          [](const QueryRow& row) { return KnownOrNull(row.trace->analysis().facts.rank); }};
}

QueryColumn TraceColumn(bool hidden) {
  return {"trace",
          "INTEGER",
          "number of the trace in the run, from 0",
          QueryRole::kTrace,
          [](const QueryRow& row) { return QueryValue(int64_t{row.trace->number()}); },
          {},
          hidden};
}

QueryColumn WorkerColumn(bool hidden) {
  return {
      "worker",
      "TEXT",
      "of a recording of several engines: w0, w1, ...",
      QueryRole::kPlain,
      nullptr,
      {[](const QueryRow&) { return uint32_t{0}; }, [](const QueriedTrace&) { return size_t{1}; },
       [](const QueriedTrace& trace, uint32_t) -> std::optional<std::string_view> {
         const std::string& worker = trace.analysis().facts.identity.worker;
         return worker.empty() ? std::nullopt : std::optional<std::string_view>(worker);
       }},
      hidden};
}

std::optional<std::string_view> ProcessOfTrack(const QueriedTrace& trace, uint32_t track) {
  const Vocabulary& words = trace.trace().words;
  return trace.Text(words[words[static_cast<TrackId>(track)].process].id);
}

std::optional<std::string_view> ThreadOfTrack(const QueriedTrace& trace, uint32_t track) {
  return trace.Text(trace.trace().words[static_cast<TrackId>(track)].tid);
}

}  // namespace tacho

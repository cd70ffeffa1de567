#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "query/queried_trace.h"

namespace tacho {

// A cell. std::monostate: NULL, not known. A std::string_view lives as long as the run.
using QueryValue = std::variant<std::monostate, int64_t, double, std::string_view, std::string>;

// A row of a table. The table has one or more parts in each trace; the rows of a part count from 0.
struct QueryRow {
  const QueriedTrace* trace = nullptr;
  uint32_t part = 0, row = 0;
};

// The values of a column with few different texts. Each text has a number in its trace, so
// comparing, sorting and grouping look at each text once instead of at each row.
struct QueryWords {
  uint32_t (*of)(const QueryRow&) = nullptr;
  size_t (*count)(const QueriedTrace&) = nullptr;  // all numbers are below it
  // nullopt: NULL.
  std::optional<std::string_view> (*text)(const QueriedTrace&, uint32_t word) = nullptr;
};

enum class QueryRole : uint8_t {
  kPlain,
  kRank,   // the same in all rows of a trace
  kTrace,  // the same in all rows of a trace; hidden, unless it distinguishes more than the rank
  kKey,    // one row of a trace, or of the run, has it: see QueryTable::find
  kStart,  // in the time of the trace, see QueryTable::lanes
  kEnd,
};

struct QueryColumn {
  std::string_view name, type;  // "INTEGER", "REAL" or "TEXT"
  std::string_view says;        // description, for the documents
  QueryRole role = QueryRole::kPlain;
  QueryValue (*value)(const QueryRow&) = nullptr;
  QueryWords words = {};  // in place of `value`
  bool hidden = false;    // not in SELECT *
};
QueryValue ValueOf(const QueryColumn& column, const QueryRow& row);

// A table of a query: a description of where its cells are in the traces. Nothing is copied.
struct QueryTable {
  std::string_view name;
  std::string_view says;
  std::vector<QueryColumn> columns;
  uint32_t (*parts)(const QueriedTrace&) = nullptr;  // null: one
  size_t (*rows)(const QueriedTrace&, uint32_t part) = nullptr;
  bool (*has)(const QueryRow&) = nullptr;  // whether a row is in the table; null: all are
  // The rows of a part by time; null if the part has no such order.
  const LaneRows* (*lanes)(const QueriedTrace&, uint32_t part) = nullptr;
  // Finds the row with that key. Null: the table has no key.
  std::optional<QueryRow> (*find)(const QueriedTrace&, int64_t key) = nullptr;
  bool rows_cost = false;  // counting the rows means computing them
};

// All tables, in the order of the documents.
const std::vector<QueryTable>& QueryTables();

// The tables by subject, which QueryTables puts together.
QueryTable SlicesQueryTable();
QueryTable KernelsQueryTable();
QueryTable LaunchesQueryTable();
QueryTable OperatorsQueryTable();
QueryTable StepsQueryTable();
QueryTable GapsQueryTable();
QueryTable RanksQueryTable();
QueryTable DevicesQueryTable();
QueryTable NotesQueryTable();

// Columns that several tables have.
QueryColumn RankColumn();
QueryColumn TraceColumn(bool hidden = true);
QueryColumn WorkerColumn(bool hidden = true);
inline QueryValue KnownOrNull(int64_t value) {
  return value >= 0 ? QueryValue(value) : QueryValue();
}
template <typename T>
QueryValue KnownOrNull(const std::optional<T>& value) {
  if (!value) return {};
  if constexpr (requires { value->ns; })
    return value->ns;
  else
    return QueryValue(*value);
}
// The name of a process or a thread by TrackId.
std::optional<std::string_view> ProcessOfTrack(const QueriedTrace& trace, uint32_t track);
std::optional<std::string_view> ThreadOfTrack(const QueriedTrace& trace, uint32_t track);
inline size_t TrackCount(const QueriedTrace& trace) { return trace.trace().words.tracks().size(); }
// Names by StringId.
inline size_t StringCount(const QueriedTrace& trace) { return trace.trace().words.strings.size(); }
inline std::optional<std::string_view> StringOf(const QueriedTrace& trace, uint32_t id) {
  return trace.Text(static_cast<StringId>(id));
}
// An id of a slice, or NULL.
inline QueryValue IdOrNull(const QueriedTrace& trace, SlicesOf table, uint32_t row) {
  return row == QueriedTrace::kNone ? QueryValue() : QueryValue(trace.IdOf(table, row));
}
// A number of a step, or NULL.
inline QueryValue StepOrNull(uint32_t step) {
  return step == 0 ? QueryValue() : QueryValue(int64_t{step});
}

}  // namespace tacho

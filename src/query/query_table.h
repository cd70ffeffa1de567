#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "query/queried_trace.h"

namespace tacho {

// The value of a cell. std::monostate: NULL, the value is unknown. A std::string_view lives as long
// as the run.
using QueryValue = std::variant<std::monostate, int64_t, double, std::string_view, std::string>;

// A row of a table, by its position. The table has one or more parts in each trace, and the rows of
// each part count from 0.
struct QueryRow {
  const QueriedTrace* trace = nullptr;
  uint32_t part = 0, row = 0;
};

// How a column with few different texts gives its values. Each text has a number (its "word") in
// its trace, so that comparing, sorting and grouping look at each text once, not at each row.
struct QueryWords {
  uint32_t (*of)(const QueryRow&) = nullptr;
  size_t (*count)(const QueriedTrace&) = nullptr;  // all words are below it
  // The text of a word; nullopt: NULL.
  std::optional<std::string_view> (*text)(const QueriedTrace&, uint32_t word) = nullptr;
};

enum class QueryRole : uint8_t {
  kPlain,
  kRank,   // the same in all rows of a trace
  kTrace,  // the same in all rows of a trace
  kKey,    // identifies one row of a trace or of the run: see QueryTable::find
  kStart,  // start_ns, in the time of the trace: see QueryTable::lanes
  kEnd,
};

struct QueryColumn {
  std::string_view name, type;  // "INTEGER", "REAL" or "TEXT"
  std::string_view says;        // description, for docs and help
  QueryRole role = QueryRole::kPlain;
  QueryValue (*value)(const QueryRow&) = nullptr;
  QueryWords words = {};  // used if `value` is null
  bool hidden = false;    // not in SELECT *
};
QueryValue ValueOf(const QueryColumn& column, const QueryRow& row);

// An SQL table: describes how to get its cells from the traces. Nothing is copied.
struct QueryTable {
  std::string_view name;
  std::string_view says;
  std::vector<QueryColumn> columns;
  uint32_t (*parts)(const QueriedTrace&) = nullptr;  // how many parts a trace has; null: one
  size_t (*rows)(const QueriedTrace&, uint32_t part) = nullptr;
  bool (*has)(const QueryRow&) = nullptr;  // whether a row belongs to the table; null: all rows do
  // Gives the rows of a part ordered by time; null: they cannot be read by time.
  const LaneRows* (*lanes)(const QueriedTrace&, uint32_t part) = nullptr;
  // Finds the row with that key. Null: the table has no key.
  std::optional<QueryRow> (*find)(const QueriedTrace&, int64_t key) = nullptr;
  bool rows_cost = false;  // rows must be computed before they can be counted
};

// All tables, in the order in which the docs list them.
const std::vector<QueryTable>& QueryTables();

// The single tables that QueryTables puts together.
QueryTable SlicesQueryTable();
QueryTable KernelsQueryTable();
QueryTable LaunchesQueryTable();
QueryTable OperatorsQueryTable();
QueryTable StepsQueryTable();
QueryTable GapsQueryTable();
QueryTable LayersQueryTable();
QueryTable RanksQueryTable();
QueryTable DevicesQueryTable();
QueryTable NotesQueryTable();

// Columns that several tables have.
QueryColumn RankColumn();
QueryColumn TraceColumn(bool hidden = true);
QueryColumn WorkerColumn(bool hidden = true);
// A column without a special role.
inline QueryColumn Plain(std::string_view name, std::string_view type, std::string_view says,
                         QueryValue (*value)(const QueryRow&)) {
  return {name, type, says, QueryRole::kPlain, value};
}
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
// The ids of the process and the thread of a track, by TrackId.
std::optional<std::string_view> ProcessOfTrack(const QueriedTrace& trace, uint32_t track);
std::optional<std::string_view> ThreadOfTrack(const QueriedTrace& trace, uint32_t track);
inline size_t TrackCount(const QueriedTrace& trace) { return trace.trace().words.tracks().size(); }
// For QueryWords whose words are StringIds.
inline size_t StringCount(const QueriedTrace& trace) { return trace.trace().words.strings.size(); }
inline std::optional<std::string_view> StringOf(const QueriedTrace& trace, uint32_t id) {
  return trace.Text(static_cast<StringId>(id));
}
// The id of a slice; NULL if `row` is kNone.
inline QueryValue IdOrNull(const QueriedTrace& trace, SlicesOf table, uint32_t row) {
  return row == QueriedTrace::kNone ? QueryValue() : QueryValue(trace.IdOf(table, row));
}
// The number of a step; NULL if it is 0.
inline QueryValue StepOrNull(uint32_t step) {
  return step == 0 ? QueryValue() : QueryValue(int64_t{step});
}

}  // namespace tacho

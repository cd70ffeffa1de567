#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "query/query_table.h"

namespace tacho {

// How a table is read for a query: which rows, and in which order. The rows read may be more than
// the query wants (SQLite checks each row again), never fewer.
struct TablePlan {
  // Bounds of start_ns: from <= start < until. Bound of end_ns: ends_from <= end.
  int64_t from = kFirst, until = kLast, ends_from = kFirst;
  std::optional<int64_t> key = {}, rank = {}, trace = {};

  // Bounds of texts: only rows with a matching text in the column (QueryColumn::words).
  enum class Like : uint8_t { kEqual, kLike, kGlob };
  struct WordsLike {
    size_t column;
    Like how;
    std::string text;
    bool operator==(const WordsLike&) const = default;
  };
  std::vector<WordsLike> words = {};

  // The columns to sort by, the most important first: columns of words, the rank or the trace. NULL
  // comes first.
  struct Order {
    size_t column;
    bool descending;
  };
  std::vector<Order> order = {};
  bool nothing = false;  // no row can match

  static constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
};

// Whether rows can be read in the order of this column.
bool CanOrderBy(const QueryColumn& column);

// Goes through the rows of a table. Keeps references to the table, the run and `stop`. Calls
// `stop`, unless it is empty, once for every 65,536 rows that it looks at, over all plans.
class TableReader {
 public:
  TableReader(const QueryTable& table, const QueriedRun& run, const std::function<bool()>& stop)
      : table_(table), run_(run), stop_(stop) {}

  // Cost: O(log n) for a key; O(log n) a lane for a bounded time; with an order O(n), and 20 bytes
  // a row.
  void Start(TablePlan plan);
  [[nodiscard]] bool at_end() const { return at_end_; }
  // Whether the rows ended early because `stop` returned true.
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] const QueryRow& row() const { return row_; }
  void Next();

 private:
  struct Stretch {  // rows of one part; `has` may exclude some
    const QueriedTrace* trace;
    uint32_t part;
    RowList rows;
  };
  struct Filter {
    TablePlan::WordsLike like;
    // by trace, then word: -1 unknown, else whether it matches
    std::vector<std::vector<int8_t>> known;
  };
  void AddTrace(const QueriedTrace& trace);
  void AddByTime(const QueriedTrace& trace, uint32_t part, const LaneRows& lanes);
  [[nodiscard]] bool Passes(const QueryRow& row);
  bool Passes(Filter& filter, const QueryRow& row) const;
  // The next of the stretches' rows that passes.
  bool Read();
  void Sort();
  void SortBy(TablePlan::Order order);

  const QueryTable& table_;
  const QueriedRun& run_;
  const std::function<bool()>& stop_;
  TablePlan plan_;
  std::vector<Filter> filters_;
  std::vector<Stretch> stretches_;
  std::vector<std::vector<uint32_t>> lists_;  // lists of rows that stretches refer to
  size_t stretch_ = 0, next_ = 0;
  QueryRow row_;
  bool at_end_ = true;
  uint32_t looked_at_ = 0;  // rows since `stop` was called
  bool stopped_ = false;

  struct Placed {
    uint32_t stretch, row;
  };
  bool sorted_ = false;
  std::vector<Placed> order_;
};

}  // namespace tacho

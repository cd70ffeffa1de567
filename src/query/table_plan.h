#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "query/query_table.h"

namespace tacho {

// How a table is read for a query: which rows, and in which order. More rows may be read than the
// query wants (SQLite checks each row again), but never fewer.
struct TablePlan {
  // Only rows with from <= start_ns < until and ends_from <= end_ns.
  int64_t from = kFirst, until = kLast, ends_from = kFirst;
  std::optional<int64_t> key = {}, rank = {}, trace = {};

  // Only rows whose text in `column` (a column with QueryColumn::words) matches `text`.
  enum class Like : uint8_t { kEqual, kLike, kGlob };
  struct WordsLike {
    size_t column;
    Like how;
    std::string text;
    bool operator==(const WordsLike&) const = default;
  };
  std::vector<WordsLike> words = {};

  // The columns to sort by, the most important first. Each must satisfy CanOrderBy. NULL comes
  // first.
  struct Order {
    size_t column;
    bool descending;
  };
  std::vector<Order> order = {};
  bool nothing = false;  // no row can match

  static constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
};

// Whether rows can be read sorted by this column: it has words, or is the rank or the trace.
bool CanOrderBy(const QueryColumn& column);

// Goes through the rows of a table. Keeps references to the table, the run and `stop`. Calls
// `stop`, unless it is empty, after every 65,536 rows; the count goes on when the next plan is
// started.
class TableReader {
 public:
  TableReader(const QueryTable& table, const QueriedRun& run, const std::function<bool()>& stop)
      : table_(table), run_(run), stop_(stop) {}

  // Starts reading by `plan`; row() is then the first row. Cost: O(log n) for a key; O(log n) for
  // each lane if times are bounded; with an order, O(n) and 20 bytes a row.
  void Start(TablePlan plan);
  [[nodiscard]] bool at_end() const { return at_end_; }
  // Whether the rows ended early because `stop` returned true.
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] const QueryRow& row() const { return row_; }
  void Next();

 private:
  struct Stretch {  // rows of one part; QueryTable::has may exclude some
    const QueriedTrace* trace;
    uint32_t part;
    RowList rows;
  };
  struct Filter {
    TablePlan::WordsLike like;
    // by trace, then by word: -1 if unknown, else whether the word's text matches
    std::vector<std::vector<int8_t>> known;
  };
  void AddTrace(const QueriedTrace& trace);
  void AddByTime(const QueriedTrace& trace, uint32_t part, const LaneRows& lanes);
  [[nodiscard]] bool Passes(const QueryRow& row);
  bool Passes(Filter& filter, const QueryRow& row) const;
  // Moves to the next row of the stretches that passes the filters; false if there is none.
  bool Read();
  void Sort();
  void SortBy(TablePlan::Order order);

  const QueryTable& table_;
  const QueriedRun& run_;
  const std::function<bool()>& stop_;
  TablePlan plan_;
  std::vector<Filter> filters_;
  std::vector<Stretch> stretches_;
  std::vector<std::vector<uint32_t>> lists_;  // lists of rows that stretches_ refers to
  size_t stretch_ = 0, next_ = 0;
  QueryRow row_;
  bool at_end_ = true;
  uint32_t looked_at_ = 0;  // rows read since `stop` was last called
  bool stopped_ = false;

  struct Placed {
    uint32_t stretch, row;
  };
  bool sorted_ = false;
  std::vector<Placed> order_;
};

}  // namespace tacho

#include "query/table_plan.h"

#include <algorithm>
#include <utility>

#include "io/sqlite.h"

namespace tacho {
namespace {

constexpr uint32_t kRowsBetweenLooks = 65'536;

bool IsLike(const TablePlan::WordsLike& like, std::string_view text) {
  if (like.how == TablePlan::Like::kEqual) return like.text == text;
  const std::string ended(text);
  return (like.how == TablePlan::Like::kLike
              ? sqlite3_strlike(like.text.c_str(), ended.c_str(), 0)
              : sqlite3_strglob(like.text.c_str(), ended.c_str())) == 0;
}

}  // namespace

bool CanOrderBy(const QueryColumn& column) {
  return column.value == nullptr || column.role == QueryRole::kRank ||
         column.role == QueryRole::kTrace;
}

void TableReader::Start(TablePlan plan) {
  // A filter that was already in the last plan is kept, with the results that it has for single
  // words (Filter::known). That pays in a join, where the inner table is started many times.
  std::vector<Filter> filters;
  for (TablePlan::WordsLike& like : plan.words) {
    const auto same = std::ranges::find(filters_, like, &Filter::like);
    if (same != filters_.end()) {
      filters.push_back(std::move(*same));
    } else {
      filters.push_back({std::move(like), std::vector<std::vector<int8_t>>(run_.traces.size())});
    }
  }
  filters_ = std::move(filters);
  plan_ = std::move(plan);
  stretches_.clear();
  lists_.clear();
  stretch_ = next_ = 0;
  sorted_ = false;
  at_end_ = stopped_ = false;
  if (!plan_.nothing) {
    for (const auto& trace : run_.traces) AddTrace(*trace);
  }
  if (!plan_.order.empty()) Sort();
  Next();
}

void TableReader::AddTrace(const QueriedTrace& trace) {
  if (plan_.trace && *plan_.trace != trace.number()) return;
  if (plan_.rank && trace.analysis().facts.rank != plan_.rank) return;
  if (plan_.key) {
    if (const auto found = table_.find(trace, *plan_.key))
      stretches_.push_back({&trace, found->part, RowList(found->row, 1)});
    return;
  }
  const bool by_time = plan_.from != TablePlan::kFirst || plan_.until != TablePlan::kLast ||
                       plan_.ends_from != TablePlan::kFirst;
  const uint32_t parts = table_.parts == nullptr ? 1 : table_.parts(trace);
  for (uint32_t part = 0; part < parts; ++part) {
    const LaneRows* const lanes =
        by_time && table_.lanes != nullptr ? table_.lanes(trace, part) : nullptr;
    if (lanes != nullptr) {
      AddByTime(trace, part, *lanes);
    } else {
      stretches_.push_back({&trace, part, RowList(0, table_.rows(trace, part))});
    }
  }
}

void TableReader::AddByTime(const QueriedTrace& trace, uint32_t part, const LaneRows& lanes) {
  // Else slices that started before `from` but are still open count too.
  const bool starts = plan_.from > plan_.ends_from;
  const TimeNs from{starts ? plan_.from : std::max(plan_.ends_from, TablePlan::kFirst + 1) - 1};
  for (size_t lane = 0; lane < lanes.lanes(); ++lane) {
    const RowList rows = lanes.Of(lane);
    if (rows.empty()) continue;
    std::vector<uint32_t> list;
    if (starts) {
      for (size_t i = lanes.FirstFrom(lane, from);
           i < rows.size() && lanes.table().start[rows[i]].ns < plan_.until; ++i) {
        list.push_back(rows[i]);
      }
    } else {
      lanes.ForEachIn(lane, {from, {plan_.until}},
                      [&](size_t, uint32_t row) { list.push_back(row); });
    }
    if (list.empty()) continue;
    lists_.push_back(std::move(list));
    stretches_.push_back({&trace, part, RowList(lists_.back())});
  }
}

bool TableReader::Passes(Filter& filter, const QueryRow& row) const {
  const QueryWords& words = table_.columns[filter.like.column].words;
  std::vector<int8_t>& known = filter.known[row.trace->number()];
  if (known.empty()) known.assign(words.count(*row.trace), -1);
  const uint32_t word = words.of(row);
  if (known[word] < 0) {
    const auto text = words.text(*row.trace, word);
    known[word] = text && IsLike(filter.like, *text) ? 1 : 0;
  }
  return known[word] != 0;
}

bool TableReader::Passes(const QueryRow& row) {
  if (table_.has != nullptr && !table_.has(row)) return false;
  return std::ranges::all_of(filters_, [&](Filter& filter) { return Passes(filter, row); });
}

bool TableReader::Read() {
  for (; stretch_ < stretches_.size(); ++stretch_, next_ = 0) {
    const Stretch& stretch = stretches_[stretch_];
    while (next_ < stretch.rows.size()) {
      if (++looked_at_ == kRowsBetweenLooks) {
        looked_at_ = 0;
        stopped_ = stop_ && stop_();
        if (stopped_) return false;
      }
      row_ = {stretch.trace, stretch.part, stretch.rows[next_++]};
      if (Passes(row_)) return true;
    }
  }
  return false;
}

void TableReader::Next() {
  if (!sorted_) {
    at_end_ = !Read();
  } else if (next_ == order_.size()) {
    at_end_ = true;
  } else {
    const Placed& placed = order_[next_++];
    const Stretch& stretch = stretches_[placed.stretch];
    row_ = {stretch.trace, stretch.part, placed.row};
  }
}

void TableReader::Sort() {
  order_.clear();
  while (Read()) order_.push_back({static_cast<uint32_t>(stretch_), row_.row});
  for (size_t i = plan_.order.size(); i-- > 0;) SortBy(plan_.order[i]);
  sorted_ = true;
  next_ = 0;
}

// A stable counting sort by one column. To sort by several, call it for the last column first.
void TableReader::SortBy(TablePlan::Order order) {
  const QueryColumn& column = table_.columns[order.column];
  const bool by_trace = column.value != nullptr;
  struct Value {
    QueryValue value;
    uint32_t trace, word;
  };
  std::vector<Value> values;
  std::vector<std::vector<uint32_t>> group_of(run_.traces.size());  // by trace, then by word
  std::vector<uint32_t> words(order_.size());
  for (size_t i = 0; i < order_.size(); ++i) {
    const Stretch& stretch = stretches_[order_[i].stretch];
    const QueryRow row{stretch.trace, stretch.part, order_[i].row};
    const uint32_t trace = row.trace->number();
    std::vector<uint32_t>& groups = group_of[trace];
    if (groups.empty()) groups.resize(by_trace ? 1 : column.words.count(*row.trace));
    const uint32_t word = words[i] = by_trace ? 0 : column.words.of(row);
    if (groups[word] == 0) {
      values.push_back({ValueOf(column, row), trace, word});
      groups[word] = 1;
    }
  }
  std::ranges::sort(values, [&](const Value& a, const Value& b) {
    return order.descending ? b.value < a.value : a.value < b.value;
  });
  uint32_t groups = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    groups += i == 0 || values[i].value != values[i - 1].value ? 1 : 0;
    group_of[values[i].trace][values[i].word] = groups;
  }
  const auto group = [&](size_t i) {
    return group_of[stretches_[order_[i].stretch].trace->number()][words[i]];
  };
  std::vector<uint32_t> next(groups + size_t{2});  // by group, from 1: the position of its next row
  for (size_t i = 0; i < order_.size(); ++i) ++next[group(i) + 1];
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<Placed> sorted(order_.size());
  for (size_t i = 0; i < order_.size(); ++i) sorted[next[group(i)]++] = order_[i];
  order_ = std::move(sorted);
}

}  // namespace tacho

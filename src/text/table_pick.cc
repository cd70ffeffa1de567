#include "text/table_pick.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/closest.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

std::optional<size_t> ColumnOf(const Table& table, std::string_view key) {
  for (size_t i = 0; !key.empty() && i < table.columns.size(); ++i) {
    if (table.columns[i].key == key) return i;
  }
  return std::nullopt;
}

bool HasNumbers(Unit unit) {
  return unit == Unit::kCount || unit == Unit::kDuration || unit == Unit::kBytes ||
         unit == Unit::kShare || unit == Unit::kNumber;
}

// The keys of columns that can be sorted by or compared, in the order of the tables, without
// repeats.
std::vector<std::string> KeysOf(const std::vector<Table>& tables) {
  std::vector<std::string> keys;
  for (const Table& table : tables) {
    for (const TableColumn& column : table.columns) {
      const bool usable = !column.key.empty() && std::ranges::count(keys, column.key) == 0 &&
                          (HasNumbers(column.unit) || column.unit == Unit::kText);
      if (usable) keys.push_back(column.key);
    }
  }
  return keys;
}

Result<void> RequireColumn(std::string_view option, const std::string& column,
                           const std::vector<std::string>& keys,
                           std::string_view unless_meant = "") {
  if (std::ranges::count(keys, column) > 0) return {};
  const std::string near = Closest(column, keys);
  return Fail(
      ErrorKind::kUsage,
      fmt::format("{}: no column '{}' here{}; the columns are: {}{}", option, VisibleText(column),
                  near.empty() ? "" : fmt::format(", did you mean '{}'?", near),
                  fmt::join(keys, ", "), unless_meant));
}

// Reads "12", "1.5ms", "5%" or "2MB". The result is in the unit of the column's cells (ns, a
// fraction, bytes).
std::optional<double> NumberIn(std::string_view text, Unit unit) {
  const std::optional<double> value = TakeNumber<double>(text);
  text = Trim(text);
  if (!value || text.empty()) return value;
  using Scale = std::pair<std::string_view, double>;
  static constexpr Scale kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  static constexpr Scale kSizes[] = {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
  const auto scaled = [&](const auto& scales) -> std::optional<double> {
    for (const auto& [name, scale] : scales) {
      if (text == name) return *value * scale;
    }
    return std::nullopt;
  };
  if (unit == Unit::kDuration) return scaled(kTimes);
  if (unit == Unit::kBytes) return scaled(kSizes);
  if (unit == Unit::kShare && text == "%") return *value / 100;
  return std::nullopt;
}

std::optional<double> NumberOf(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return std::nullopt;
}

template <typename T>
bool Holds(const T& a, std::string_view comparison, const T& b) {
  if (comparison == ">") return a > b;
  if (comparison == ">=") return a >= b;
  if (comparison == "<") return a < b;
  if (comparison == "<=") return a <= b;
  return (a == b) == (comparison == "=");
}

bool Passes(const TableRow& row, size_t column, Unit unit, const TablePick::Condition& condition) {
  const Cell& cell = row.cells[column];
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return Holds(*text, condition.comparison, condition.value);
  }
  const std::optional<double> number = NumberOf(cell), wanted = NumberIn(condition.value, unit);
  return number && wanted && Holds(*number, condition.comparison, *wanted);
}

bool HasText(const TableRow& row, const std::string& lowered) {
  return std::ranges::any_of(row.cells, [&](const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    return text != nullptr && AsciiLowered(*text).find(lowered) != std::string::npos;
  });
}

// Splits "COLUMN>VALUE"; nullopt if there is no comparison in it.
std::optional<TablePick::Condition> SplitCondition(std::string_view text) {
  const size_t at = text.find_first_of("<>=!");
  if (at == 0 || at == std::string_view::npos) return std::nullopt;
  const bool two = at + 1 < text.size() && text[at + 1] == '=';
  if (text[at] == '!' && !two) return std::nullopt;
  return TablePick::Condition{std::string(Trim(text.substr(0, at))),
                              std::string(text.substr(at, two ? 2 : 1)),
                              std::string(Trim(text.substr(at + (two ? 2 : 1))))};
}

// Whether a filter looks like a comparison of a column with a number. Such a filter is an error if
// the column is unknown; any other filter is then a text to search for.
bool LooksMeant(const TablePick::Condition& condition) {
  const bool is_name = std::ranges::all_of(condition.column, [](char c) {
    return c == '_' || IsDigit(c) || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'z');
  });
  static constexpr Unit kUnits[] = {Unit::kDuration, Unit::kBytes, Unit::kShare};
  return is_name && std::ranges::any_of(kUnits, [&](Unit unit) {
           return NumberIn(condition.value, unit).has_value();
         });
}

Result<void> CheckValue(const TablePick::Condition& condition, const std::vector<Table>& tables) {
  for (const Table& table : tables) {
    const auto column = ColumnOf(table, condition.column);
    if (!column) continue;
    const Unit unit = table.columns[*column].unit;
    if (unit == Unit::kText && condition.comparison.find_first_of("<>") != std::string::npos) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--filter: '{}' holds texts: compare it by = or !=, or give a text "
                              "alone",
                              condition.column));
    }
    if (unit != Unit::kText && !NumberIn(condition.value, unit)) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--filter: '{}' is not a value of '{}': write {}",
                              VisibleText(condition.value), condition.column,
                              unit == Unit::kDuration ? "10us, or a number of ns"
                              : unit == Unit::kShare  ? "5%, or 0.05"
                              : unit == Unit::kBytes  ? "2MB, or a number of bytes"
                                                      : "a number"));
    }
  }
  return {};
}

}  // namespace

Result<TablePick> ParseTablePick(const std::optional<std::string>& sort,
                                 const std::optional<std::string>& filter,
                                 const std::vector<Table>& tables) {
  TablePick pick;
  const std::vector<std::string> keys = KeysOf(tables);
  if (sort) {
    const size_t colon = std::min(sort->rfind(':'), sort->size());
    const std::string way = sort->substr(std::min(colon + 1, sort->size()));
    if (colon < sort->size() && way != "asc" && way != "desc") {
      return Fail(
          ErrorKind::kUsage,
          fmt::format("--sort: '{}' is not a direction: write asc or desc", VisibleText(way)));
    }
    pick.order = TablePick::Order{sort->substr(0, colon), {}};
    if (!way.empty()) pick.order->descending = way == "desc";
    TACHO_RETURN_IF_ERROR(RequireColumn("--sort", pick.order->column, keys));
  }
  if (!filter) return pick;
  if (filter->empty()) return Fail(ErrorKind::kUsage, "--filter needs a text or COLUMN>VALUE");
  pick.condition = SplitCondition(*filter);
  if (pick.condition && std::ranges::count(keys, pick.condition->column) == 0) {
    if (LooksMeant(*pick.condition))
      TACHO_RETURN_IF_ERROR(RequireColumn("--filter", pick.condition->column, keys,
                                          "; a text with a comparison goes in double quotes"));
    pick.condition.reset();
  }
  if (pick.condition) {
    TACHO_RETURN_IF_ERROR(CheckValue(*pick.condition, tables));
  } else {
    const bool quoted = filter->size() > 2 && filter->front() == '"' && filter->back() == '"';
    pick.text = quoted ? filter->substr(1, filter->size() - 2) : *filter;
  }
  return pick;
}

std::optional<PickedRows> PickRows(Table& table, const TablePick& pick) {
  std::optional<PickedRows> picked;
  const size_t all = table.rows.size();
  if (pick.condition) {
    if (const auto column = ColumnOf(table, pick.condition->column)) {
      std::erase_if(table.rows, [&](const TableRow& row) {
        return !Passes(row, *column, table.columns[*column].unit, *pick.condition);
      });
      picked = {table.rows.size(), all};
    }
  } else if (!pick.text.empty()) {
    const std::string lowered = AsciiLowered(pick.text);
    std::erase_if(table.rows, [&](const TableRow& row) { return !HasText(row, lowered); });
    picked = {table.rows.size(), all};
  }
  if (!pick.order) return picked;
  const auto column = ColumnOf(table, pick.order->column);
  if (!column) return picked;
  const bool descending = pick.order->descending.value_or(HasNumbers(table.columns[*column].unit));
  const auto is_before = [&](const TableRow& left, const TableRow& right) {
    const Cell &a = left.cells[*column], &b = right.cells[*column];
    const bool a_empty = std::holds_alternative<std::monostate>(a);
    const bool b_empty = std::holds_alternative<std::monostate>(b);
    if (a_empty || b_empty) return !a_empty && b_empty;
    return descending ? b < a : a < b;
  };
  std::ranges::stable_sort(table.rows, is_before);
  return picked;
}

}  // namespace tacho

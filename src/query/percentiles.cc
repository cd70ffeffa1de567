#include "query/percentiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace tacho {
namespace {

// The values of one group. SQLite provides it filled with zeros, and frees it without calling a
// destructor.
struct ValuesOfGroup {
  int64_t* values;  // from sqlite3_realloc64; if `are_real`, the bits of doubles
  uint64_t count, room;
  bool are_real, has_failed;
  double percent;
};

void FailGroup(sqlite3_context* context, ValuesOfGroup& group, const char* why) {
  group.has_failed = true;
  char* const text =
      sqlite3_mprintf("%s() %s", static_cast<const char*>(sqlite3_user_data(context)), why);
  if (text == nullptr) return sqlite3_result_error_nomem(context);
  sqlite3_result_error(context, text, -1);
  sqlite3_free(text);
}

void AddToGroup(ValuesOfGroup& group, sqlite3_value* value, bool is_real) {
  if (is_real && !group.are_real) {
    group.are_real = true;
    for (int64_t& of : std::span(group.values, group.count))
      of = std::bit_cast<int64_t>(static_cast<double>(of));
  }
  group.values[group.count++] = group.are_real ? std::bit_cast<int64_t>(sqlite3_value_double(value))
                                               : sqlite3_value_int64(value);
}

void StepPercentile(sqlite3_context* context, int argc, sqlite3_value** arguments) {
  auto* const group = static_cast<ValuesOfGroup*>(
      sqlite3_aggregate_context(context, static_cast<int>(sizeof(ValuesOfGroup))));
  if (group == nullptr) return sqlite3_result_error_nomem(context);
  if (group->has_failed) return;
  double percent = 50;
  if (argc == 2) {
    const int type = sqlite3_value_numeric_type(arguments[1]);
    percent = sqlite3_value_double(arguments[1]);
    if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || percent < 0 || percent > 100)
      return FailGroup(context, *group, "takes a percentage from 0 to 100 as its second argument");
    if (group->count > 0 && percent != group->percent)
      return FailGroup(context, *group, "takes one percentage, the same in all rows");
  }
  const int type = sqlite3_value_numeric_type(arguments[0]);
  if (type == SQLITE_NULL) return;
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
    return FailGroup(context, *group, "takes numbers");
  group->percent = percent;
  if (group->count == group->room) {
    const uint64_t room = std::max<uint64_t>(64, 2 * group->room);
    void* const more = sqlite3_realloc64(group->values, room * sizeof(int64_t));
    if (more == nullptr) {
      group->has_failed = true;
      return sqlite3_result_error_nomem(context);
    }
    group->values = static_cast<int64_t*>(more);
    group->room = room;
  }
  AddToGroup(*group, arguments[0], type == SQLITE_FLOAT);
}

void FinishPercentile(sqlite3_context* context) {
  auto* const group = static_cast<ValuesOfGroup*>(sqlite3_aggregate_context(context, 0));
  if (group == nullptr) return sqlite3_result_null(context);
  const std::span values(group->values, group->count);
  if (!group->has_failed && !values.empty()) {
    const double above = group->percent / 100 * static_cast<double>(values.size());
    // For example, 99.9 % of 1000 values is the 999th: a rounding error in the product must not
    // make it the 1000th.
    const auto rank = static_cast<size_t>(std::ceil(above - above * 1e-12));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
    if (group->are_real) {
      const auto real = [](int64_t bits) { return std::bit_cast<double>(bits); };
      std::ranges::nth_element(values, at, {}, real);
      sqlite3_result_double(context, real(*at));
    } else {
      std::ranges::nth_element(values, at);
      sqlite3_result_int64(context, *at);
    }
  }
  sqlite3_free(group->values);
}

}  // namespace

void AddPercentiles(SqliteDatabase& database) {
  const auto add = [&](const char* name, int arguments) {
    sqlite3_create_function_v2(
        database.handle(), name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
        const_cast<char*>(name), nullptr, StepPercentile, FinishPercentile, nullptr);
  };
  add("median", 1);
  add("percentile", 2);
}

}  // namespace tacho

#include "io/sqlite_record.h"

#include <array>
#include <limits>

#include "io/sqlite.h"

namespace tacho {
namespace {

using Kind = SqliteSlot::Kind;

// The integer at the start of a text; the nearest possible one if it is too large.
int64_t IntegerOfText(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  const bool is_negative = !text.empty() && text.front() == '-';
  if (is_negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const uint64_t most = kMost + (is_negative ? 1 : 0);
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') break;
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (most - digit) / 10) {
      value = most;
      break;
    }
    value = value * 10 + digit;
  }
  return static_cast<int64_t>(is_negative ? 0 - value : value);
}

// Rounds towards zero. Gives the nearest integer if the value is too large, and 0 for NaN.
int64_t IntegerOfReal(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kBeyond = 9223372036854775808.0;
  if (value >= kBeyond) return std::numeric_limits<int64_t>::max();
  if (value <= -kBeyond) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace

double SqliteRow::Real(const SqliteSlot& slot) const {
  switch (slot.kind) {
    case Kind::kReal:
      return std::bit_cast<double>(StoredInteger(slot));
    case Kind::kIntegerAsReal:
      return static_cast<double>(StoredInteger(slot));
    default:
      return slot.kind == Kind::kOneAsReal ? 1 : 0;
  }
}

int64_t SqliteRow::Converted(const SqliteSlot& slot) const {
  switch (slot.kind) {
    case Kind::kNull:
    case Kind::kZero:
    case Kind::kZeroAsReal:
      return 0;
    case Kind::kOne:
    case Kind::kOneAsReal:
      return 1;
    case Kind::kInteger:
      return StoredInteger(slot);
    case Kind::kRowid:
      return rowid_;
    case Kind::kReal:
    case Kind::kIntegerAsReal:
      return IntegerOfReal(Real(slot));
    case Kind::kText:
    case Kind::kBlob:
      break;
  }
  return IntegerOfText({reinterpret_cast<const char*>(record_ + slot.at), slot.size});
}

std::string_view SqliteRow::Text(int column, std::string& number) const {
  const SqliteSlot& slot = slots_[column];
  switch (slot.kind) {
    case Kind::kNull:
      return {};
    case Kind::kText:
    case Kind::kBlob:
      return {reinterpret_cast<const char*>(record_ + slot.at), slot.size};
    case Kind::kReal:
    case Kind::kIntegerAsReal:
    case Kind::kZeroAsReal:
    case Kind::kOneAsReal: {
      if (IsNotANumber(slot)) return {};
      std::array<char, 64> text{};
      sqlite3_snprintf(static_cast<int>(text.size()), text.data(), "%!.15g", Real(slot));
      number = text.data();
      return number;
    }
    default:
      number = std::to_string(Integer(column));
      return number;
  }
}

}  // namespace tacho

#include "load/plan/trace_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace tacho {
namespace {

constexpr double kSecond = 1, kMillisecond = 1e-3;
constexpr int64_t kMooncakesBlock = 512, kBailiansBlock = 16, kLargestBlock = 1 << 20;
// Bounds for the mean time between requests, in the file's units.
constexpr double kMinuteInSeconds = 60, kThousandASecond = 1, kHundredASecond = 10;
constexpr double kMostOddRows = 0.1;

// Units of stamps that count from 1970: the first entry with `below` above the earliest stamp
// applies.
struct EpochUnit {
  double below, seconds_a_unit;
};
constexpr double kEarliestEpoch = 1e9;  // the year 2001, in seconds
constexpr std::array kEpochUnits{EpochUnit{1e11, 1}, EpochUnit{1e14, 1e-3}, EpochUnit{1e17, 1e-6},
                                 EpochUnit{std::numeric_limits<double>::infinity(), 1e-9}};

size_t RowsThatFit(const TraceSigns& signs, int64_t block) {
  return static_cast<size_t>(std::ranges::count_if(signs.hashed, [&](const auto& row) {
    const auto ids = static_cast<int64_t>(row.second);
    return ids == row.first / block || ids == (row.first + block - 1) / block;
  }));
}

// The smallest block size at which no prompt has more blocks than hash ids.
int64_t SmallestBlock(const TraceSigns& signs) {
  int64_t least = 1;
  for (const auto& [tokens, ids] : signs.hashed)
    least = std::max(least, (tokens + static_cast<int64_t>(ids) - 1) / static_cast<int64_t>(ids));
  return least;
}

// The block size that fits most rows, or `usual` if none fits nine in ten. Among sizes that fit
// equally many, `usual` wins, then Bailian's, then powers of two.
int64_t BestBlock(const TraceSigns& signs, int64_t usual) {
  int64_t best = usual;
  size_t most = RowsThatFit(signs, usual);
  const auto offer = [&](int64_t block) {
    if (most == signs.hashed.size()) return;
    if (const size_t fit = RowsThatFit(signs, block); fit > most) most = fit, best = block;
  };
  offer(kBailiansBlock);
  for (int64_t block = 1; block <= kLargestBlock; block *= 2) offer(block);
  offer(SmallestBlock(signs));
  return most >= static_cast<size_t>((1 - kMostOddRows) * static_cast<double>(signs.hashed.size()))
             ? best
             : usual;
}

void SetBlock(const TraceSigns& signs, TraceUnits& units) {
  const int64_t usual =
      signs.given_block.value_or(signs.is_bailian ? kBailiansBlock : kMooncakesBlock);
  units.block_tokens = signs.given_block ? usual : BestBlock(signs, usual);
  if (signs.hashed.empty()) return;
  const size_t rows = signs.hashed.size(), odd = rows - RowsThatFit(signs, units.block_tokens);
  if (signs.given_block && odd == 0) return;
  units.block_remark = fmt::format(
      "a hash id is read as {} tokens, {}{} (--timed-trace-chunk-hash-size N: N tokens)",
      units.block_tokens,
      signs.given_block             ? "as the options say"
      : units.block_tokens != usual ? "which fits the lengths of the prompts"
      : usual == kMooncakesBlock    ? "as in Mooncake's traces"
                                    : "as in Bailian's traces",
      odd == 0 ? ""
               : fmt::format("; {} of {} prompts have too many or too few for that", odd, rows));
}

struct TimeGuess {
  double seconds_a_unit = kMillisecond;
  const char* why = "Mooncake's unit";
};

TimeGuess GuessTime(const TraceSigns& signs, int64_t block) {
  const auto [first, last] = std::ranges::minmax(signs.stamps);
  if (first >= kEarliestEpoch) {
    const auto unit = std::ranges::find_if(
        kEpochUnits, [earliest = first](const EpochUnit& one) { return earliest < one.below; });
    return {unit->seconds_a_unit, "because they count from 1970"};
  }
  if (signs.is_bailian) return {kSecond, "as in Bailian's traces"};
  const double gap = (last - first) / static_cast<double>(signs.stamps.size() - 1);
  const bool has_fraction =
      std::ranges::any_of(signs.stamps, [](double stamp) { return stamp != std::floor(stamp); });
  if (has_fraction && gap < kMinuteInSeconds) return {kSecond, "because they have fractions"};
  if (gap < kThousandASecond)
    return {kSecond, "because milliseconds would be more than 1,000 requests a second"};
  if (gap < kHundredASecond && block != kMooncakesBlock)
    return {kSecond, "because milliseconds would be more than 100 requests a second"};
  return {};
}

std::string_view NameOfUnit(double seconds) {
  return seconds == 1      ? "seconds"
         : seconds == 1e-3 ? "milliseconds"
         : seconds == 1e-6 ? "microseconds"
                           : "nanoseconds";
}

void SetTime(const TraceSigns& signs, TraceUnits& units) {
  const auto [first, last] = signs.stamps.empty() ? std::ranges::minmax_result<double>{0, 0}
                                                  : std::ranges::minmax(signs.stamps);
  const bool tells = last > first || first >= kEarliestEpoch;
  const TimeGuess guess = tells ? GuessTime(signs, units.block_tokens) : TimeGuess{};
  units.seconds_a_unit = signs.given_unit.value_or(guess.seconds_a_unit);
  if (signs.given_unit || last <= first) return;
  const double other = guess.seconds_a_unit == kSecond ? kMillisecond : kSecond;
  units.time_remark =
      fmt::format("the trace's times are read as {}, {} (--timed-trace-sec-multiplier {:g}: {})",
                  NameOfUnit(guess.seconds_a_unit), guess.why, other, NameOfUnit(other));
}

}  // namespace

TraceUnits UnitsOf(const TraceSigns& signs) {
  TraceUnits units;
  SetBlock(signs, units);
  SetTime(signs, units);
  return units;
}

}  // namespace tacho

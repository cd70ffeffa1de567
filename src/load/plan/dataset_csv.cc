#include "load/plan/dataset_csv.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "base/parse_number.h"
#include "base/words.h"

namespace tacho {
namespace {

std::vector<std::string_view> Cells(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string_view> cells;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

template <typename Number>
bool TakeInto(Number& number, std::string_view& text) {
  const auto taken = TakeNumber<Number>(text);
  if (taken) number = *taken;
  return taken.has_value();
}

bool TakeChar(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Parses "2023-11-16 18:17:03.9799600", with or without a time zone, to nanoseconds of Unix time.
std::optional<int64_t> DateAndTime(std::string_view text) {
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!TakeInto(year, text) || !TakeChar(text, '-') || !TakeInto(month, text) ||
      !TakeChar(text, '-') || !TakeInto(day, text) ||
      !(TakeChar(text, ' ') || TakeChar(text, 'T')) || !TakeInto(hour, text) ||
      !TakeChar(text, ':') || !TakeInto(minute, text) || !TakeChar(text, ':') ||
      !TakeInto(second, text)) {
    return std::nullopt;
  }
  int64_t fraction_ns = 0;
  if (TakeChar(text, '.')) {
    int64_t digit_ns = 100'000'000;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
      fraction_ns += (text[0] - '0') * digit_ns;
      digit_ns /= 10;
    }
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok() || year < 1970 || year > 2200 || hour > 23 || minute > 59 || second > 60)
    return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds =
      ((int64_t{days} * 24 + hour) * 60 + minute) * 60 + static_cast<int64_t>(second);
  return seconds * 1'000'000'000 + fraction_ns;
}

struct Columns {
  size_t time = SIZE_MAX, prompt = SIZE_MAX, output = SIZE_MAX;
};
std::optional<Columns> ColumnsOf(const std::vector<std::string_view>& names, Dataset& dataset) {
  Columns columns;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "TIMESTAMP" || names[i] == "Timestamp") columns.time = i;
    if (names[i] == "ContextTokens" || names[i] == "Request tokens") columns.prompt = i;
    if (names[i] == "GeneratedTokens" || names[i] == "Response tokens") columns.output = i;
  }
  if (columns.prompt == SIZE_MAX || columns.output == SIZE_MAX) return std::nullopt;
  dataset.kind =
      names[columns.prompt] == "ContextTokens" ? DatasetKind::kAzure : DatasetKind::kBurstGpt;
  return columns;
}

}  // namespace

Result<void> ReadCsv(std::string_view bytes, const DatasetOptions& options, Dataset& dataset) {
  constexpr auto kMost = static_cast<double>(kMostTokens);
  std::optional<Columns> columns;
  uint64_t number = 0;
  while (!bytes.empty()) {
    const std::string_view line = TakeLine(bytes);
    ++number;
    const auto cells = Cells(line);
    if (!columns) {
      columns = ColumnsOf(cells, dataset);
      if (columns) continue;
      return Fail(ErrorKind::kUnreadable,
                  "no dataset that is known: neither JSON nor a CSV with the columns ContextTokens "
                  "and GeneratedTokens, or Request tokens and Response tokens");
    }
    if (cells.size() == 1 && cells[0].empty()) continue;
    const auto cell = [&](size_t column) {
      return column < cells.size() ? cells[column] : std::string_view{};
    };
    const auto broken = [&](const char* why) {
      ++dataset.broken;
      if (dataset.first_broken.size() < Dataset::kMostBroken) {
        dataset.first_broken.push_back({number, why});
      }
    };
    const auto prompt = ParseWhole<double>(cell(columns->prompt)),
               output = ParseWhole<double>(cell(columns->output));
    if (!prompt || !output) {
      broken("no number of tokens");
      continue;
    }
    if (*prompt < 1 || *output < 1 || *prompt > kMost || *output > kMost) {
      ++dataset.unfit;  // BurstGPT lists failed requests as answers of 0 tokens
      continue;
    }
    DatasetRow row;
    row.prompt_tokens = std::llround(*prompt);
    row.output_tokens = std::llround(*output);
    if (const auto stamp = ParseWhole<double>(cell(columns->time))) {
      const double seconds = *stamp * options.seconds_a_unit.value_or(1);
      if (seconds >= 0 && seconds <= kLatestSeconds) row.at_ns = std::llround(seconds * 1e9);
    } else {
      row.at_ns = DateAndTime(cell(columns->time));
    }
    if (columns->time != SIZE_MAX && !row.at_ns) {
      broken("no time");
      continue;
    }
    dataset.rows.push_back(std::move(row));
  }
  return {};
}

}  // namespace tacho

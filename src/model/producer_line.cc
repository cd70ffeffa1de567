#include "model/producer_line.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/parse_number.h"
#include "base/words.h"

namespace tacho {
namespace {

// Matches a line that contains all words, in any order. `is_counted`: the line has a count, which
// is the number next to the first word; if the count is 0, the line does not match. The words are
// from nsys's DIAGNOSTIC_EVENT and Kineto's log.
struct Sign {
  ProducerLine meaning;
  std::array<std::string_view, 2> words;  // in lower case
  bool is_counted = false;
};
constexpr Sign kSigns[] = {
    {ProducerLine::kUnsupportedDriver, {"cuda driver version", "not supported"}},
    {ProducerLine::kLostEvents, {"not all ", "events might have been collected"}},
    {ProducerLine::kLostEvents, {"exceeded max", "buffer count"}},
    {ProducerLine::kLostEvents, {"terminating tracing", ""}},
    {ProducerLine::kLostEvents, {"stopped early at", ""}},
    // A counter of Kineto, such as "... = 1".
    {ProducerLine::kLostEvents, {"stopped early?", ""}, true},
    {ProducerLine::kLostEvents, {"dropped", "record"}, true},
    {ProducerLine::kLostEvents, {"dropped", "event"}, true},
    {ProducerLine::kLostEvents, {"dropped", "activit"}, true},
    {ProducerLine::kLostEvents, {"dropping", "record"}, true},
    {ProducerLine::kLostEvents, {"dropping", "event"}, true},
    {ProducerLine::kLostEvents, {"lost", "record"}, true},
    {ProducerLine::kLostEvents, {"lost", "event"}, true},
    {ProducerLine::kLostEvents, {"overflow", "buffer"}},
};
constexpr std::string_view kOfSamples[] = {"sampl", "backtrace", "context switch", "sched"};
constexpr std::string_view kNone[] = {"no records", "no events", "no activit"};

bool Has(std::string_view line, std::string_view word) {
  return line.find(word) != std::string_view::npos;
}

// The first number after `at`; if there is none, the last one before it. So it finds 3 in "dropped
// 3 records" and in "3 records dropped".
std::optional<uint64_t> NumberBeside(std::string_view line, size_t at) {
  constexpr std::string_view kDigits = "0123456789";
  size_t begin = line.find_first_of(kDigits, at);
  if (begin == std::string_view::npos) {
    const size_t last = line.find_last_of(kDigits, at);
    if (last == std::string_view::npos) return std::nullopt;
    const size_t before = line.find_last_not_of(kDigits, last);
    begin = before == std::string_view::npos ? 0 : before + 1;
  }
  return ParseWhole<uint64_t>(line.substr(begin, line.find_first_not_of(kDigits, begin) - begin));
}

// Removes Kineto's prefix, such as "WARNING:2024-02-08 10:38:45 94:94 CuptiActivityApi.cpp:294] ".
std::string_view Said(std::string_view line) {
  const size_t end = line.find(".cpp:");
  const size_t bracket = end == std::string_view::npos ? end : line.find("] ", end);
  return bracket == std::string_view::npos ? line : line.substr(bracket + 2);
}

}  // namespace

ProducerLine MeaningOf(std::string_view line) {
  const std::string said = AsciiLowered(Said(line));
  const auto has = [&](std::string_view word) { return Has(said, word); };
  if (std::ranges::any_of(kOfSamples, has) || std::ranges::any_of(kNone, has))
    return ProducerLine::kOther;
  for (const Sign& sign : kSigns) {
    if (!std::ranges::all_of(sign.words, has)) continue;
    if (sign.is_counted && NumberBeside(said, said.find(sign.words[0])) == 0) continue;
    return sign.meaning;
  }
  return ProducerLine::kOther;
}

void NoteProducerLines(const TraceHeader& header, Notes& notes) {
  for (const std::string& line : header.producer_log) {
    switch (MeaningOf(line)) {
      case ProducerLine::kLostEvents:
        notes.Add(NoteId::kProducerLostEvents, "");
        break;
      case ProducerLine::kUnsupportedDriver:
        notes.Add(NoteId::kUnsupportedDriver, "");
        break;
      case ProducerLine::kOther:
        notes.Add(NoteId::kProducerWarning, "");
        break;
    }
  }
}

}  // namespace tacho

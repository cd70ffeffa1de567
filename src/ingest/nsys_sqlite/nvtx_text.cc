#include "ingest/nsys_sqlite/nvtx_text.h"

#include <algorithm>

#include "base/parse_number.h"
#include "base/words.h"

namespace tacho::nsys {
namespace {

// Removes ", KEY = NUMBER" from the end of `text` and returns the number.
std::optional<int64_t> TakeLastNumber(std::string_view& text, std::string_view key) {
  size_t at = text.size();
  while (at > 0 && IsDigit(text[at - 1])) --at;
  const std::string_view digits = text.substr(at);
  if (!text.substr(0, at).ends_with(key)) return std::nullopt;
  const bool is_plain = !digits.empty() && (digits.front() != '0' || digits.size() == 1);
  const auto number = is_plain ? ParseWhole<int64_t>(digits) : std::nullopt;
  if (number) text = text.substr(0, at - key.size());
  return number;
}

// Whether `text` is a JSON list of brackets, numbers, commas and single spaces.
bool IsListOfSizes(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[') ++depth;
    if (c == ']') --depth;
    const bool is_end = i + 1 == text.size();
    if (depth < (is_end ? 0 : 1) || depth > 3) return false;
    if (!IsDigit(c) && c != '[' && c != ']' && c != ',' && c != ' ') return false;
    // Texts such as "[, 2]" and "2 3" are no JSON.
    const char next = is_end ? '\0' : text[i + 1];
    if (c == ',' && next != ' ') return false;
    if (c == ' ' && (i == 0 || text[i - 1] != ',' || (!IsDigit(next) && next != '['))) return false;
    if (c == '[' && next == ',') return false;
    if (c == ']' && (IsDigit(next) || next == '[')) return false;
    if (IsDigit(c) && next == '[') return false;
  }
  return text.starts_with('[') && depth == 0;
}

}  // namespace

std::optional<TorchRange> ParseTorchRange(std::string_view text) {
  TorchRange range;
  constexpr std::string_view kSizes = ", sizes = ";
  if (const size_t at = text.find(kSizes); at != std::string_view::npos) {
    range.sizes = text.substr(at + kSizes.size());
    if (!IsListOfSizes(range.sizes)) return std::nullopt;
    text = text.substr(0, at);
  }
  const auto op_id = TakeLastNumber(text, ", op_id = ");
  if (!op_id) return std::nullopt;
  range.op_id = *op_id;
  range.sequence = TakeLastNumber(text, ", seq = ");
  range.name = text;
  return text.empty() ? std::nullopt : std::optional(range);
}

bool IsOperatorName(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    const char lower = AsciiLower(c);
    return (lower >= 'a' && lower <= 'z') || IsDigit(c) || c == '_' || c == ':' || c == '.';
  });
}

}  // namespace tacho::nsys

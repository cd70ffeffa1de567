#include "io/trace_json.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tacho {
namespace {

// "schemaVersion" is not among them, because it also occurs in other formats: see HasTraceKeys.
constexpr std::array<std::string_view, 8> kTraceKeys = {
    "traceEvents", "deviceProperties",    "computeProperties",    "displayTimeUnit",
    "traceName",   "baseTimeNanoseconds", "cuda_runtime_version", "hip_runtime_version"};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

std::string_view WithoutMarkAndSpace(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text.substr(SkipSpace(text, 0));
}

// Whether `text` contains `quoted` (with its quotes), followed by a colon.
bool HasKey(std::string_view text, std::string_view quoted) {
  for (size_t at = text.find(quoted); at != std::string_view::npos;
       at = text.find(quoted, at + quoted.size())) {
    const size_t colon = SkipSpace(text, at + quoted.size());
    if (colon < text.size() && text[colon] == ':') return true;
  }
  return false;
}

// Goes through the keys of the outermost object. Unescaped quotes in strings, which old Kineto
// wrote, can mislead it; but they occur only in events, after the first keys.
class TopLevelKeys {
 public:
  explicit TopLevelKeys(std::string_view object) : text_(object) {}

  bool Next() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '{' || c == '[') ++depth_;
      if (c == '}' || c == ']') closed_ = --depth_ == 0;
      if (closed_) return false;
      if (c != '"') continue;
      const size_t start = ++at_;
      SkipString();
      if (at_ == text_.size()) return false;
      const size_t colon = SkipSpace(text_, at_ + 1);
      if (depth_ != 1 || colon == text_.size() || text_[colon] != ':') continue;
      key_ = text_.substr(start, at_ - start);
      at_ = SkipSpace(text_, colon + 1);
      return true;
    }
    return false;
  }

  [[nodiscard]] std::string_view key() const { return key_; }
  // The text from the key's value to the end.
  [[nodiscard]] std::string_view value() const { return text_.substr(at_); }
  // Whether the object's end was reached.
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  void SkipString() {
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool closed_ = false;
  std::string_view key_;
};

bool IsOne(std::string_view value) {
  return value == "1" ||
         (value.starts_with('1') && (IsSpace(value[1]) || value[1] == ',' || value[1] == '}'));
}

bool IsOnlyOfTraces(std::string_view key) {
  return std::find(kTraceKeys.begin(), kTraceKeys.end(), key) != kTraceKeys.end();
}

bool HasTraceKeys(std::string_view object) {
  TopLevelKeys keys(object);
  bool version_one = false;
  while (keys.Next()) {
    if (IsOnlyOfTraces(keys.key())) return true;
    if (keys.key() == "schemaVersion" && IsOne(keys.value())) version_one = true;
  }
  return version_one && !keys.closed();
}

bool HasEventKeys(std::string_view text) {
  return HasKey(text, "\"ph\"") && HasKey(text, "\"ts\"");
}

}  // namespace

bool IsTraceKey(std::string_view key) { return key == "schemaVersion" || IsOnlyOfTraces(key); }

bool LooksLikeJson(std::string_view start) {
  const std::string_view text = WithoutMarkAndSpace(start);
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return false;
  // A line of a log may start with "[" too.
  const size_t next = SkipSpace(text, 1);
  if (next == text.size()) return true;
  const std::string_view firsts = text[0] == '{' ? "\"}" : "{[\"]-0123456789tfn";
  return firsts.find(text[next]) != std::string_view::npos;
}

bool LooksLikeTraceJson(std::string_view start) {
  const std::string_view text = WithoutMarkAndSpace(start);
  if (!LooksLikeJson(text)) return false;
  if (text[0] == '[') {
    const size_t first = SkipSpace(text, 1);
    return first < text.size() && text[first] == '{' && HasKey(text, "\"ph\"");
  }
  return HasTraceKeys(text) || HasKey(text, "\"traceEvents\"") || HasEventKeys(text);
}

}  // namespace tacho

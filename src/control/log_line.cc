#include "control/log_line.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/words.h"

namespace tacho {
namespace {

constexpr size_t kMostJoinedName = 64;
constexpr std::array<std::string_view, 4> kOfRequests{
    "Received request ", "Receive: obj=", "Finish: obj=", "Generated response "};

// Removes "OPEN...CLOSE" and the blank after it from the beginning; its inside. "" if it is not
// there.
std::string_view TakeBracketed(std::string_view& text, char open, char close) {
  const size_t end = text.find(close);
  if (!text.starts_with(open) || end == std::string_view::npos) return {};
  const std::string_view inside = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  return inside;
}

bool IsDate(std::string_view word) {
  return std::count(word.begin(), word.end(), '-') >= 1 && !word.empty() && IsDigit(word.front()) &&
         std::ranges::all_of(word, [](char c) { return IsDigit(c) || c == '-'; });
}

// "pid=123", "VllmWorker-0 pid=123, ip=10.0.0.1".
bool IsProcess(std::string_view inside) {
  constexpr std::string_view kPid = "pid=";
  const size_t at = inside.find(kPid);
  if (at == std::string_view::npos || at + kPid.size() == inside.size()) return false;
  return IsDigit(inside[at + kPid.size()]) && (at == 0 || inside.find(' ') == at - 1);
}

// The NAME of "NAME | ", "[NAME] " or "NAME: "; "" of all else, such as a progress bar.
std::string_view JoinedNameIn(std::string_view prefix) {
  const std::string_view ends[] = {" | ", ": ", "] "};
  const auto end =
      std::ranges::find_if(ends, [&](std::string_view one) { return prefix.ends_with(one); });
  if (end == std::end(ends)) return {};
  prefix.remove_suffix(end->size());
  if ((*end == "] ") != prefix.starts_with('[')) return {};
  if (prefix.starts_with('[')) prefix.remove_prefix(1);
  prefix = Trim(prefix);  // docker compose aligns its bars
  const bool is_name = std::ranges::all_of(prefix, [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_-./@").find(c) != std::string_view::npos;
  });
  return is_name ? prefix : std::string_view();
}

// Removes what is before the "[DATE" of SGLang; the name that whoever joined several logs put
// there.
std::string TakeJoinedName(std::string_view& text) {
  const size_t date = text.find("[20");
  if (date == 0 || date == text.npos || date > kMostJoinedName) return "";
  if (std::string_view after = text.substr(date);
      !IsDate(TakeBracketed(after, '[', ']').substr(0, 10)))
    return "";
  std::string name(JoinedNameIn(text.substr(0, date)));
  text.remove_prefix(date);
  return name;
}

// "ERROR 11-24 16:02:39 [core.py:1510] " of vLLM. A traceback's own indentation stays.
void TakeVllmHead(std::string_view& text, LogLine& line) {
  constexpr std::array<std::string_view, 5> kLevels{"DEBUG", "INFO", "WARNING", "ERROR",
                                                    "CRITICAL"};
  std::string_view rest = text;
  const std::string_view level = TakeWord(rest);
  const std::string_view date = TakeWord(rest), time = TakeWord(rest);
  if (std::ranges::find(kLevels, level) == kLevels.end() || !IsDate(date) ||
      time.find(':') == std::string_view::npos) {
    return;
  }
  line.time = time;
  line.is_error = level == "ERROR" || level == "CRITICAL";
  TakeBracketed(rest, '[', ']');
  text = rest;
}

}  // namespace

std::string WithoutColours(std::string_view line) {
  std::string plain;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
    } else if (line[i] != '\r') {
      plain += line[i];
    }
  }
  return plain;
}

LogLine ReadLogLine(std::string_view line) {
  const std::string plain = WithoutColours(line);
  std::string_view text = plain;
  LogLine read;
  if (std::string_view after = text; IsProcess(TakeBracketed(after, '(', ')')))
    read.process = TakeBracketed(text, '(', ')');
  TakeVllmHead(text, read);
  if (read.process.empty()) read.process = TakeJoinedName(text);
  if (std::string_view after = text; IsDate(TakeBracketed(after, '[', ']').substr(0, 10))) {
    // SGLang: "[DATE TIME]" or "[DATE TIME RANK]".
    std::string_view inside = TakeBracketed(text, '[', ']');
    TakeWord(inside);
    read.time = TakeWord(inside);
    read.is_named = !read.process.empty();
    if (!read.process.empty() && !inside.empty()) read.process += ' ';
    read.process += inside;
  }
  read.text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  return read;
}

bool HoldsRequest(std::string_view text) {
  return std::ranges::any_of(kOfRequests, [&](std::string_view words) {
    return text.find(words) != std::string_view::npos;
  });
}

}  // namespace tacho

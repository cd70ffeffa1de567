#include "control/log/log_prefix.h"

#include <algorithm>
#include <iterator>

#include "base/words.h"

namespace tacho {

bool IsNameByte(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_-./@").find(c) != std::string_view::npos;
}

void TakeStamp(std::string_view& text) {
  const auto is_like = [](std::string_view word, std::string_view shape) {  // '0' matches any digit
    return word.size() >= shape.size() &&
           std::ranges::equal(word.substr(0, shape.size()), shape, [](char c, char wanted) {
             return wanted == '0' ? IsDigit(c) : c == wanted;
           });
  };
  std::string_view rest = text;
  const std::string_view first = TakeWord(rest);
  const bool is_iso = is_like(first, "0000-00-00T00:00:00");
  if (!is_iso) {
    const std::string_view day = TakeWord(rest), time = TakeWord(rest);
    if (first.size() != 3 || day.size() > 2 || !is_like(day, "0") || !is_like(time, "00:00:00"))
      return;
  }
  // Keeps the indentation of a traceback, by removing only one blank after the word.
  const auto after = [&](std::string_view word) {
    const auto end = static_cast<size_t>(word.data() + word.size() - text.data());
    return text.substr(std::min(text.size(), end + 1));
  };
  std::string_view words = rest;
  const std::string_view host = TakeWord(words), program = TakeWord(words);
  const bool has_pid = program.ends_with("]:") && program.find('[') != program.npos;
  // Lines from docker begin with an ISO time, but name no host and no program. So after an ISO time
  // a word without a process id is a program only if it is an engine's name.
  const bool is_program = program.ends_with(':') && !host.ends_with(':') &&
                          (!is_iso || program == "vllm:" || program == "sglang:");
  if (has_pid || is_program)
    text = after(program);
  else if (is_iso)
    text = after(first);
  // A container's runtime adds the name of the stream, and whether the line is complete (F) or
  // partial (P).
  words = text;
  const std::string_view stream = TakeWord(words), part = TakeWord(words);
  if (is_iso && stream.starts_with("std") && (part == "F" || part == "P")) text = after(part);
}

std::string_view PodPrefix(std::string_view text) {
  constexpr std::string_view kDrawn = "bcdfghjklmnpqrstvwxz2456789", kArrow = "› ";
  std::string_view rest = text;
  const std::string_view pod = TakeWord(rest), container = TakeWord(rest);
  const std::string_view end = pod.substr(pod.rfind('-') + 1);
  const bool is_pod = end.size() < pod.size() && !end.empty() &&
                      (std::ranges::all_of(end, IsDigit) ||
                       (end.size() == 5 && end.find_first_not_of(kDrawn) == end.npos));
  if (!is_pod || container.empty() || !std::ranges::all_of(pod, IsNameByte) ||
      !std::ranges::all_of(container, IsNameByte))
    return {};
  if (rest.starts_with(kArrow)) rest.remove_prefix(kArrow.size());
  return text.substr(0, text.size() - rest.size());
}

std::string_view JoinedNameIn(std::string_view prefix) {
  if (PodPrefix(prefix) == prefix) return Trim(prefix.substr(0, prefix.find(" ›")));
  const std::string_view ends[] = {" | ", ": ", "] "};
  const auto end =
      std::ranges::find_if(ends, [&](std::string_view one) { return prefix.ends_with(one); });
  if (end == std::end(ends)) return {};
  prefix.remove_suffix(end->size());
  if ((*end == "] ") != prefix.starts_with('[')) return {};
  if (prefix.starts_with('[')) prefix.remove_prefix(1);
  prefix = Trim(prefix);  // docker compose aligns its bars with blanks
  return std::ranges::all_of(prefix, IsNameByte) ? prefix : std::string_view();
}

}  // namespace tacho

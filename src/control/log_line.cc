#include "control/log_line.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/words.h"

namespace tacho {
namespace {

constexpr size_t kMostJoinedName = 64, kMostKnown = 64;
constexpr std::array<std::string_view, 5> kOfRequests{
    "Received request ",
    " details: prompt: ", "Receive: obj=", "Finish: obj=", "Generated response "};

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

bool IsNameByte(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_-./@").find(c) != std::string_view::npos;
}

// "pid=123", "VllmWorker-0 pid=123, ip=10.0.0.1"; of vLLM 0.8 "VllmWorker rank=0 pid=123", of 0.10
// "VllmWorker TP0 pid=123"; of Ray Serve "ServeReplica:app:LLMServer pid=123".
bool IsProcess(std::string_view inside) {
  constexpr std::string_view kPid = "pid=";
  const size_t at = inside.find(kPid);
  if (at == std::string_view::npos || at + kPid.size() == inside.size()) return false;
  if (!IsDigit(inside[at + kPid.size()])) return false;
  std::string_view before = inside.substr(0, at);
  const std::string_view name = TakeWord(before);
  const std::string_view rank = TakeWord(before);
  return std::ranges::all_of(name, [](char c) { return IsNameByte(c) || c == ':'; }) &&
         (at == 0 || inside[at - 1] == ' ') && before.empty() &&
         (rank.empty() || rank.find('=') != rank.npos || (rank[0] >= 'A' && rank[0] <= 'Z'));
}

// vLLM's own, not what Ray calls the engine: it puts its front end's before what Ray's workers say.
bool IsOfVllm(std::string_view process) {
  constexpr std::array<std::string_view, 7> kNames{
      "APIServer", "ApiServer", "EngineCore", "Worker", "VllmWorker", "RayWorker", "DPCoordinator"};
  return std::ranges::any_of(kNames,
                             [&](std::string_view one) { return process.starts_with(one); });
}

// Removes "(VllmWorker-0 pid=123) " from the beginning; its inside, "" if it is not there.
std::string_view TakeProcess(std::string_view& text) {
  std::string_view after = text;
  const std::string_view inside = TakeBracketed(after, '(', ')');
  if (!IsProcess(inside)) return {};
  text = after;
  return inside;
}

bool BeginsWithDate(std::string_view text) {
  return IsDate(TakeBracketed(text, '[', ']').substr(0, 10));
}

// Removes what a collector puts before each line: "2025-09-02T08:04:02.88-07:00 " of docker and
// kubectl, "Aug 19 18:34:30 HOST NAME[PID]: " of journalctl, with either time, and "Aug 19 18:34:30
// HOST NAME: " of syslog.
void TakeStamp(std::string_view& text) {
  const auto is_like = [](std::string_view word, std::string_view shape) {  // 0: a digit
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
  // A traceback's indentation stays.
  const auto after = [&](std::string_view word) {
    const auto end = static_cast<size_t>(word.data() + word.size() - text.data());
    return text.substr(std::min(text.size(), end + 1));
  };
  std::string_view words = rest;
  const std::string_view host = TakeWord(words), program = TakeWord(words);
  const bool has_pid = program.ends_with("]:") && program.find('[') != program.npos;
  // After a time in ISO's form, which a line of docker's has too, only an engine is one.
  const bool is_program = program.ends_with(':') && !host.ends_with(':') &&
                          (!is_iso || program == "vllm:" || program == "sglang:");
  if (has_pid || is_program)
    text = after(program);
  else if (is_iso)
    text = after(first);
  // A container's runtime adds its stream, and whether the line is whole.
  words = text;
  const std::string_view stream = TakeWord(words), part = TakeWord(words);
  if (is_iso && stream.starts_with("std") && (part == "F" || part == "P")) text = after(part);
}

// Removes "[rank0]: " of torch's own traceback, or "[default0]:" of torchrun; "rank0".
std::string_view TakeTorchRank(std::string_view& text) {
  std::string_view after = text;
  const std::string_view inside = TakeBracketed(after, '[', ']');
  const size_t digits = inside.find_first_of("0123456789");
  if ((inside.substr(0, digits) != "rank" && inside.substr(0, digits) != "default") ||
      !after.starts_with(':'))
    return {};
  after.remove_prefix(1);
  if (after.starts_with(' ')) after.remove_prefix(1);
  text = after;
  return inside;
}

// The "POD CONTAINER " or "POD CONTAINER › " of stern that `text` begins with; "" without. A pod's
// name ends in its number, or in five letters that Kubernetes draws.
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

// The NAME of "NAME | ", "[NAME] " or "NAME: ", and stern's; "" of all else, such as a progress
// bar.
std::string_view JoinedNameIn(std::string_view prefix) {
  if (PodPrefix(prefix) == prefix) return Trim(prefix.substr(0, prefix.find(" ›")));
  const std::string_view ends[] = {" | ", ": ", "] "};
  const auto end =
      std::ranges::find_if(ends, [&](std::string_view one) { return prefix.ends_with(one); });
  if (end == std::end(ends)) return {};
  prefix.remove_suffix(end->size());
  if ((*end == "] ") != prefix.starts_with('[')) return {};
  if (prefix.starts_with('[')) prefix.remove_prefix(1);
  prefix = Trim(prefix);  // docker compose aligns its bars
  return std::ranges::all_of(prefix, IsNameByte) ? prefix : std::string_view();
}

// "ERROR 11-24 16:02:39 [core.py:1510] " of vLLM. A traceback's own indentation stays.
// false, and nothing is taken, if it is not there.
bool TakeVllmHead(std::string_view& text, LogLine& line) {
  constexpr std::array<std::string_view, 5> kLevels{"DEBUG", "INFO", "WARNING", "ERROR",
                                                    "CRITICAL"};
  std::string_view rest = text;
  const std::string_view level = TakeWord(rest);
  const std::string_view date = TakeWord(rest), time = TakeWord(rest);
  if (std::ranges::find(kLevels, level) == kLevels.end() || !IsDate(date) ||
      time.find(':') == std::string_view::npos) {
    return false;
  }
  line.time = time;
  line.is_error = level == "ERROR" || level == "CRITICAL";
  line.is_notice = !line.is_error;
  // "[core.py:1510] ", and "llm_engine.py:237] " before vLLM 0.7.
  if (TakeBracketed(rest, '[', ']').empty())
    if (const size_t end = rest.find("] ");
        rest.substr(0, rest.find(' ')).find(".py:") != rest.npos && end != rest.npos)
      rest.remove_prefix(end + 2);
  line.head = Trim(text.substr(0, text.size() - rest.size()));
  text = rest;
  return true;
}

// How much of `text` is before the record of an engine, put there by who joined several logs; 0 if
// nothing is, or no record begins in it.
size_t BytesBeforeRecord(std::string_view text) {
  const auto begins_record = [](std::string_view rest) {
    LogLine unused;
    TakeStamp(rest);
    return BeginsWithDate(rest) || !TakeProcess(rest).empty() || TakeVllmHead(rest, unused);
  };
  if (begins_record(text)) return 0;
  for (const std::string_view end : {" | ", "] ", ": "}) {
    const size_t at = text.substr(0, kMostJoinedName).find(end);
    if (at == text.npos) continue;
    const size_t before = at + end.size();
    if (!JoinedNameIn(text.substr(0, before)).empty() && begins_record(text.substr(before)))
      return before;
  }
  const size_t pod = PodPrefix(text).size();
  if (pod > 0 && begins_record(text.substr(pod))) return pod;
  // SGLang's follows a progress bar in the same line.
  const size_t date = text.find("[20");
  return date <= kMostJoinedName && BeginsWithDate(text.substr(date)) ? date : 0;
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

std::string LogLineReader::TakeKnownName(std::string_view& text) const {
  for (const auto& [before, name] : known_)
    if (text.starts_with(before)) {
      text.remove_prefix(before.size());
      return name;
    }
  return "";
}

void LogLineReader::Learn(std::string_view before, const std::string& name) {
  if (!name.empty() && known_.size() < kMostKnown) known_.emplace(before, name);
}

LogLine LogLineReader::Read(std::string_view line) {
  const std::string plain = WithoutColours(line);
  std::string_view text = plain;
  LogLine read;
  TakeStamp(text);
  const std::string_view whole = text;
  read.engine = TakeKnownName(text);
  if (const size_t before = read.engine.empty() ? BytesBeforeRecord(text) : 0; before > 0) {
    read.engine = JoinedNameIn(text.substr(0, before));
    Learn(text.substr(0, before), read.engine);
    text.remove_prefix(before);
  }
  TakeStamp(text);
  std::string process(TakeProcess(text));
  const std::string_view outer = whole.substr(0, whole.size() - text.size());
  // Ray names the engine before what the engine names: vLLM its processes, SGLang no process.
  const auto take_engine = [&] {
    if (read.engine.empty() && !IsOfVllm(process))
      Learn(outer, read.engine = std::exchange(process, ""));
  };
  if (const std::string_view inner = TakeProcess(text); !inner.empty()) {
    take_engine();
    process = inner;
  }
  if (process.empty()) process = TakeTorchRank(text);
  TakeVllmHead(text, read);
  std::string_view rank;
  if (BeginsWithDate(text)) {
    take_engine();
    // SGLang: "[DATE TIME]" or "[DATE TIME RANK]".
    rank = TakeBracketed(text, '[', ']');
    TakeWord(rank);
    read.time = TakeWord(rank);
  }
  const auto joined = [](const std::string& one, std::string_view other) {
    return one + (one.empty() || other.empty() ? "" : " ") + std::string(other);
  };
  read.writer = joined(read.engine, process);
  read.process = joined(read.writer, rank);
  read.text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  return read;
}

LogLine ReadLogLine(std::string_view line) { return LogLineReader().Read(line); }

bool HoldsRequest(std::string_view text) {
  return std::ranges::any_of(kOfRequests, [&](std::string_view words) {
    return text.find(words) != std::string_view::npos;
  });
}

bool IsOfUvicorn(std::string_view text) {
  return text.starts_with("INFO:     ") && text.find(" HTTP/1.1\" ") != text.npos;
}

}  // namespace tacho

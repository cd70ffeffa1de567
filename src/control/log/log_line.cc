#include "control/log/log_line.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/secrets.h"
#include "base/words.h"
#include "control/log/log_prefix.h"

namespace tacho {
namespace {

constexpr size_t kMostJoinedName = 64, kMostBeforeRecord = 128, kMostKnown = 64,
                 kMostTracebacks = 256;

// Removes "OPEN...CLOSE" and a blank after it from the beginning of `text`. Returns what was
// inside; "" if `text` begins otherwise.
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

// Whether the text names a process: "pid=123", "VllmWorker-0 pid=123, ip=10.0.0.1"; in vLLM 0.8
// "VllmWorker rank=0 pid=123", in 0.10 "VllmWorker TP0 pid=123"; in Ray Serve
// "ServeReplica:app:LLMServer pid=123".
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

// Whether vLLM itself gave the process this name. Otherwise Ray gave it, and it stands for the
// whole engine. (vLLM also puts its front end's name before the lines of Ray's workers.)
bool IsOfVllm(std::string_view process) {
  constexpr std::array<std::string_view, 7> kNames{
      "APIServer", "ApiServer", "EngineCore", "Worker", "VllmWorker", "RayWorker", "DPCoordinator"};
  return std::ranges::any_of(kNames,
                             [&](std::string_view one) { return process.starts_with(one); });
}

// Removes "(VllmWorker-0 pid=123) " from the beginning of `text`. Returns what was inside; "" if
// `text` begins otherwise.
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

// Removes "[rank0]: " of torch's own traceback, or "[default0]:" of torchrun, from the beginning of
// `text`. Returns what was inside, such as "rank0".
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

// Removes vLLM's head, "ERROR 11-24 16:02:39 [core.py:1510] ", but not the indentation of a
// traceback after it. Returns false, and removes nothing, if there is no head.
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
  // "[core.py:1510] "; before vLLM 0.7 "llm_engine.py:237] ".
  if (TakeBracketed(rest, '[', ']').empty())
    if (const size_t end = rest.find("] ");
        rest.substr(0, rest.find(' ')).find(".py:") != rest.npos && end != rest.npos)
      rest.remove_prefix(end + 2);
  line.head = Trim(text.substr(0, text.size() - rest.size()));
  text = rest;
  return true;
}

bool BeginsRecord(std::string_view text) {
  LogLine unused;
  TakeStamp(text);
  while (!TakeProcess(text).empty()) continue;
  return BeginsWithDate(text) || TakeVllmHead(text, unused);
}

// The length of the name that `text` begins with, if a program that joined several logs put it
// before the line of an engine or its process; 0 if there is none.
size_t BytesOfName(std::string_view text) {
  const auto begins = [](std::string_view rest) {
    return BeginsRecord(rest) || !TakeProcess(rest).empty();
  };
  if (begins(text)) return 0;
  for (const std::string_view end : {" | ", "] ", ": "}) {
    const size_t at = text.substr(0, kMostJoinedName).find(end);
    if (at == text.npos) continue;
    const size_t before = at + end.size();
    if (!JoinedNameIn(text.substr(0, before)).empty() && begins(text.substr(before))) return before;
  }
  const size_t pod = PodPrefix(text).size();
  return pod > 0 && begins(text.substr(pod)) ? pod : 0;
}

// The length of anything else before an engine's own line: a time in some form, a host, labels or a
// progress bar. 0 if nothing is before it, or `text` holds no such line.
size_t BytesBeforeRecord(std::string_view text) {
  for (size_t at = 0; at < std::min(text.size(), kMostBeforeRecord); ++at)
    if ((at == 0 || std::string_view(" :]>|\t").find(text[at - 1]) != text.npos) &&
        std::string_view("([DIWEC").find(text[at]) != text.npos && BeginsRecord(text.substr(at)))
      return at;
  return 0;
}

// A prefix with each number replaced by 0: prefixes that differ only in numbers have the same
// shape.
std::string ShapeOf(std::string_view prefix) {
  std::string shape;
  for (const char c : prefix)
    if (!IsDigit(c))
      shape += c;
    else if (!shape.ends_with('0'))
      shape += '0';
  return shape;
}

// The length of the beginning of `text` that has this shape; 0 if `text` begins otherwise.
size_t BytesOfShape(std::string_view text, std::string_view shape) {
  size_t at = 0;
  for (const char c : shape) {
    if (at == text.size() || (c == '0' ? !IsDigit(text[at]) : c != text[at])) return 0;
    do ++at;
    while (c == '0' && at < text.size() && IsDigit(text[at]));
  }
  return at;
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
  if (!name.empty() && !before.empty() && known_.size() < kMostKnown) known_.emplace(before, name);
}

void LogLineReader::TakeOthers(std::string_view& text) {
  for (const std::string& shape : shapes_)
    if (const size_t bytes = BytesOfShape(text, shape); bytes > 0) return text.remove_prefix(bytes);
  const size_t bytes = BytesBeforeRecord(text);
  // A progress bar is not remembered as a prefix: its shape changes each time, and it stands before
  // the line only by chance.
  if (bytes > 0 && shapes_.size() < kMostKnown && text.substr(0, bytes).find('%') == text.npos)
    shapes_.insert(ShapeOf(text.substr(0, bytes)));
  text.remove_prefix(bytes);
}

LogLine LogLineReader::Read(std::string_view line) {
  const std::string plain = WithoutColours(line);
  std::string_view text = plain;
  LogLine read;
  TakeStamp(text);
  const std::string_view whole = text;
  read.engine = TakeKnownName(text);
  if (const size_t before = read.engine.empty() ? BytesOfName(text) : 0; before > 0) {
    read.engine = JoinedNameIn(text.substr(0, before));
    Learn(text.substr(0, before), read.engine);
    text.remove_prefix(before);
  }
  TakeStamp(text);
  std::string process(TakeTorchRank(text));
  if (process.empty()) {
    TakeOthers(text);
    process = TakeProcess(text);
  }
  const std::string_view outer = whole.substr(0, whole.size() - text.size());
  // Ray's name for the engine comes before the names of the engine's own processes. vLLM names its
  // processes, SGLang does not.
  const auto take_engine = [&] {
    if (read.engine.empty() && !IsOfVllm(process))
      Learn(outer, read.engine = std::exchange(process, ""));
  };
  if (const std::string_view inner = TakeProcess(text); !inner.empty()) {
    take_engine();
    process = inner;
  }
  TakeVllmHead(text, read);
  std::string_view rank;
  if (BeginsWithDate(text)) {
    take_engine();
    // SGLang's head: "[DATE TIME]" or "[DATE TIME RANK]".
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
  BlankSecrets(read.text);
  read.number = number_;
  read.signs = SignsIn(read.text);
  if (read.text.starts_with(' ') && !read.Says(LogSign::kRequest)) read.signs.reset();
  read.traceback = PartOf(read);
  return read;
}

TracebackPart LogLineReader::PartOf(const LogLine& line) {
  const std::string_view text = line.text;
  if (line.Says(LogSign::kRequest)) {
    tracebacks_.erase(line.writer);
    return TracebackPart::kNone;
  }
  if (text.ends_with(kTracebackHead)) {
    if (tracebacks_.size() >= kMostTracebacks) tracebacks_.clear();
    tracebacks_[line.writer] = line.head;
    return TracebackPart::kHead;
  }
  const auto open = tracebacks_.find(line.writer);
  if (open == tracebacks_.end() || line.head != open->second ||
      line.head.empty() != line.time.empty() || IsOfUvicorn(text) || line.Says(LogSign::kShell))
    return TracebackPart::kNone;
  // Ray's line is followed by its own frames and the exception of its worker.
  if (text.empty() || text.starts_with(' ') || text.starts_with("ray.exceptions.RayTaskError("))
    return TracebackPart::kInside;
  tracebacks_.erase(open);
  return TracebackPart::kException;
}

LogLine ReadLogLine(std::string_view line) { return LogLineReader().Read(line); }

}  // namespace tacho

#include "ray/node_job.h"

#include <fmt/format.h>

#include <sstream>

#include "base/parse_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

std::string BeginMark(const std::string& name) { return "begin of " + name; }
std::string EndMark(const std::string& name) { return "end of " + name + ": "; }

}  // namespace

std::string CommandOfJob(const std::string& name, const std::string& command,
                         const std::string& clear) {
  constexpr int kSeconds = 6 * 3600;
  // Ray stops all processes of a job with SIGTERM, or with SIGINT if its users want that, and waits
  // 3 s for a process that nobody waited for.
  return fmt::format(
      "trap {} TERM INT; echo {}; ({}); s=$?; echo; echo {}$s || exit $s; sleep {} & wait; {}",
      ShellWord("kill $! 2>/dev/null; wait; " + clear + "; exit 0"), ShellWord(BeginMark(name)),
      command, ShellWord(EndMark(name)), kSeconds, clear);
}

std::optional<int> EndInLog(const std::string& log, const std::string& name) {
  const std::string mark = "\n" + EndMark(name);
  const size_t at = log.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  const size_t begin = at + mark.size(), end = log.find('\n', begin);
  if (end == std::string::npos) return std::nullopt;
  return ParseWhole<int>(log.substr(begin, end - begin));
}

std::string LastWordsInLog(const std::string& log, const std::string& name) {
  // Ray's own line, "Running entrypoint for job ...", may stand before or after those of the job.
  std::istringstream lines(log);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line == BeginMark(name)) last.clear();  // before it may be the end of Ray's line
    if (!line.empty() && !line.starts_with("Running entrypoint") && line != BeginMark(name) &&
        !line.starts_with(EndMark(name)))
      last = line;
  }
  return VisibleText(last);
}

}  // namespace tacho

#include "ray/analyze_command.h"

#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>

#include "ray/node_program.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

// Traces that do not fit into memory beside others are read one after the other. The words are
// those of read_run.cc and main.cc, and the system's for threads without room.
constexpr const char* kOneByOne =
    "if grep -q -e 'more memory than there is' -e 'not enough memory' "
    "-e 'Resource temporarily unavailable' \"$d/err\"; then "
    "a --threads 1 >\"$d/out1\" 2>\"$d/err1\"; t=$?; if [ $t = 0 ] || [ $t = 4 ]; then "
    "s=$t; mv \"$d/out1\" \"$d/out.json\"; mv \"$d/err1\" \"$d/err\"; fi; fi; ";

constexpr int kClaimedFile = 9;

}  // namespace

std::string ShellWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + ShellWord(word);
  return text;
}

Result<std::string> AnalyzeCommand(const NodeMemory& memory, const NodeOptions& options,
                                   const std::vector<std::string>& paths) {
  const auto limit = MemoryFor(memory);
  if (!limit) {
    return Fail(ErrorKind::kRemote,
                fmt::format("of its memory {} MB of {} are free: too little to analyse beside what "
                            "runs there",
                            memory.free >> 20, memory.total >> 20));
  }
  const int64_t threads = options.threads;
  return fmt::format(
      "rm -f \"$d/sum\"; a() {{ (ulimit -v {}; exec nice -n 15 ./tacho analyze --json --digests "
      "--no-progress \"$@\"{}{}); }}; a{} >\"$d/out.json\" 2>\"$d/err\"; s=$?; {}"
      "./tacho {} sum $s \"$d/out.json\" >\"$d/sum\"",
      *limit >> 10, ShellWords(options.analysis), ShellWords(paths),
      threads > 0 ? fmt::format(" --threads {}", threads) : "", threads == 1 ? "" : kOneByOne,
      kNodeWord);
}

bool AreOwnFiles(const NodeFiles& files) {
  return files.own_disks && MemoryFor(files.memory) && !DivideFiles({files}).front().empty();
}

std::string CommandOfOwnFiles(const NodeFiles& files, const NodeOptions& options) {
  if (!AreOwnFiles(files)) return "";
  const auto command = AnalyzeCommand(files.memory, options, DivideFiles({files}).front());
  if (!command) return "";
  const auto first =
      std::ranges::find_if(files.paths, [](const FoundPath& path) { return !path.files.empty(); });
  return fmt::format("{{ ./tacho {} claim && {{ {}; }}; }} {}<{}", kNodeWord, *command,
                     kClaimedFile, ShellWord(first->files.front().path));
}

Result<void> ClaimFile() {
  if (flock(kClaimedFile, LOCK_EX | LOCK_NB) == 0) return {};
  return Fail(ErrorKind::kRemote, "another node on this host analyses these files");
}

}  // namespace tacho

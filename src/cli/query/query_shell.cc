#include "cli/query/query_shell.h"

#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "cli/screen/output.h"

namespace tacho {

std::atomic<bool> query_interrupted = false;

namespace {

constexpr int kLinesOfHistory = 1000;
constexpr std::string_view kWordEnds = " \t\n,()=<>+-*/;'\"";

struct EndEditing {
  void operator()(EditLine* editor) const { el_end(editor); }
  void operator()(History* lines) const { history_end(lines); }
};

// While this object lives, Ctrl-C only sets query_interrupted.
class InterruptsOfShell {
 public:
  InterruptsOfShell() {
    struct sigaction action {};
    action.sa_handler = [](int) { query_interrupted = true; };
    sigaction(SIGINT, &action, &before_);  // no SA_RESTART: Ctrl-C also ends the reading of a line
  }
  InterruptsOfShell(const InterruptsOfShell&) = delete;
  InterruptsOfShell& operator=(const InterruptsOfShell&) = delete;
  ~InterruptsOfShell() { sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

// What el_set keeps for its callbacks.
struct Editing {
  bool goes_on = false;  // a statement has more lines
};

char* Prompt(EditLine* editor) {
  Editing* state = nullptr;
  el_get(editor, EL_CLIENTDATA, &state);
  static char first[] = "tacho> ", more[] = "  ...> ";
  return state->goes_on ? more : first;
}

// The longest beginning that all words share.
std::string CommonBeginning(const std::vector<std::string>& words) {
  std::string common = words.front();
  for (const std::string& word : words) {
    const auto differ = std::ranges::mismatch(common, word);
    common.resize(static_cast<size_t>(differ.in1 - common.begin()));
  }
  return common;
}

unsigned char Complete(EditLine* editor, int /*key*/) {
  const LineInfo* const line = el_line(editor);
  const std::string_view before(line->buffer, static_cast<size_t>(line->cursor - line->buffer));
  const size_t end = before.find_last_of(kWordEnds);
  std::string_view begun = before.substr(end == std::string_view::npos ? 0 : end + 1);
  // In "k.na", completes only the column after the dot.
  if (const size_t dot = begun.rfind('.'); dot != std::string_view::npos && dot > 0)
    begun = begun.substr(dot + 1);
  const std::vector<std::string> words =
      QueryWordsFrom(before.substr(0, before.size() - begun.size()), begun);
  if (words.empty()) return CC_ERROR;
  const std::string common = CommonBeginning(words);
  if (common.size() > begun.size()) {
    const std::string whole = common + (words.size() == 1 && !common.ends_with('(') ? " " : "");
    el_deletestr(editor, static_cast<int>(begun.size()));
    return el_insertstr(editor, whole.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }
  if (words.size() == 1) return CC_ERROR;
  std::string list = "\n";
  for (const std::string& word : words) list += word + "  ";
  if (!WriteStdout(list + "\n")) return CC_ERROR;
  return CC_REDISPLAY;
}

}  // namespace

void RunQueryShell(QueryInput& input) {
  const InterruptsOfShell interrupts;
  const std::unique_ptr<EditLine, EndEditing> editor(el_init("tacho", stdin, stdout, stderr));
  const std::unique_ptr<History, EndEditing> lines(history_init());
  if (!editor || !lines) return;
  Editing state;
  HistEvent event{};
  history(lines.get(), &event, H_SETSIZE, kLinesOfHistory);
  history(lines.get(), &event, H_SETUNIQUE, 1);
  el_set(editor.get(), EL_CLIENTDATA, &state);
  el_set(editor.get(), EL_PROMPT, Prompt);
  el_set(editor.get(), EL_EDITOR, "emacs");
  el_set(editor.get(), EL_SIGNAL, 1);
  el_set(editor.get(), EL_HIST, history, lines.get());
  el_set(editor.get(), EL_ADDFN, "complete", "completes a word", Complete);
  el_set(editor.get(), EL_BIND, "^I", "complete", nullptr);
  if (!WriteStdout("SQL ends with a semicolon; .help says what else there is, Ctrl-D ends\n"))
    return;
  std::string text;
  while (true) {
    state.goes_on = !text.empty();
    query_interrupted = false;
    // Sets the terminal's mode now. el_gets would set it only after showing the prompt, and a
    // Ctrl-D between the two would be lost.
    el_set(editor.get(), EL_PREP_TERM, 1);
    int count = 0;
    const char* const line = el_gets(editor.get(), &count);
    if (line == nullptr || count <= 0) {
      if (!query_interrupted) break;  // Ctrl-D
      text.clear();
      el_reset(editor.get());
      if (!WriteStdout("\n")) break;
      continue;
    }
    // Inside a statement of several lines "help" may be a name; ".help" is never SQL.
    const bool may_be_sql = !text.empty() && line[std::strspn(line, " \t")] != '.';
    const std::string meant = may_be_sql ? "" : DotOf({line, static_cast<size_t>(count)});
    if (meant == ".quit") break;
    if (!meant.empty()) {
      history(lines.get(), &event, H_ENTER, line);
      if (const auto run = input.Run(meant); !run) Complain(run.error().message);
      continue;
    }
    text.append(line, static_cast<size_t>(count));
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
      text.clear();
      continue;
    }
    const bool dot = text[text.find_first_not_of(" \t")] == '.';
    if (!dot && !IsWholeSql(text)) continue;
    history(lines.get(), &event, H_ENTER, text.c_str());
    const auto quit = input.Run(text);
    text.clear();
    if (!quit) Complain(quit.error().message);
    if (quit && *quit) break;
  }
}

}  // namespace tacho

#include "cli/record/record_narrator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "cli/screen/interrupt.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kPhaseColumns = 10;

void Put(const std::string& text) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Narrator::~Narrator() { InterruptScope::SetLastWords(nullptr); }

void Narrator::OnDone(std::string_view phase, const std::string& what) {
  notice_.reset();
  if (!quiet_) Line(Told(phase, what));
}

void Narrator::OnProgress(std::string_view phase, const std::string& what) {
  if (!live_columns_ || quiet_) return;
  std::string text = Wiped();
  open_lines_ = 0;
  std::istringstream lines(fmt::format("  {} {}", PadRight(phase, kPhaseColumns), what));
  for (std::string line; std::getline(lines, line); ++open_lines_)
    text += (open_lines_ > 0 ? "\n" : "") + FitText(VisibleText(line), *live_columns_);
  Put(text);
}

void Narrator::OnRemark(const std::string& what) { Line(Told("note", what)); }

void Narrator::OnLeftBehind(const std::string& what) {
  InterruptScope::SetLastWords(nullptr);
  words_ = "\n";
  std::istringstream lines(what);
  for (std::string line; std::getline(lines, line);) words_ += VisibleText(line) + "\n";
  if (!what.empty()) InterruptScope::SetLastWords(words_.c_str());
}

void Narrator::OnPartly(Recording& recording) {
  Clear();
  if (show_partly_) show_partly_(recording);
}

std::string Narrator::Told(std::string_view phase, const std::string& what) const {
  constexpr size_t kIndent = kPhaseColumns + 3;
  const std::string head = fmt::format("  {} ", PadRight(phase, kPhaseColumns));
  if (!live_columns_) return head + VisibleText(what) + "\n";
  // Wraps only the text after the head, because the head's blanks must stay.
  const std::string lines =
      Wrap(VisibleText(what), std::max(*live_columns_, 3 * kIndent) - kIndent, 0);
  std::string text = head;
  for (const char c : lines)
    text += c == '\n' ? "\n" + std::string(kIndent, ' ') : std::string(1, c);
  return text + "\n";
}

void Narrator::Line(const std::string& text) {
  Put(Wiped() + text);
  open_lines_ = 0;
}

std::string Narrator::Wiped() const {
  if (open_lines_ == 0) return "";
  std::string text = "\r\x1b[K";
  for (size_t i = 1; i < open_lines_; ++i) text += "\x1b[1A\x1b[K";
  return text;
}

}  // namespace tacho

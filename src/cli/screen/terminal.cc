#include "cli/screen/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/parse_number.h"
#include "base/words.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kNarrowest = 80, kWidest = 250;
constexpr size_t kNarrowestHelp = 40, kUsualHelp = 80, kWidestHelp = 200;
constexpr size_t kUsualLive = 96;  // if the terminal does not report its width

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// 0 if `text` is not a number of columns.
size_t ColumnsIn(std::string_view text) { return ParseWhole<size_t>(text).value_or(0); }

size_t ColumnsOf(const Surroundings& surroundings) {
  const size_t asked = ColumnsIn(surroundings.columns_variable);
  return asked == 0 && surroundings.is_tty ? surroundings.columns : asked;
}

bool IsUtf8Locale(std::string_view locale) {
  std::string lower;
  for (const char c : locale) {
    if (c != '-') lower += AsciiLower(c);
  }
  return lower.find("utf8") != std::string::npos;
}

}  // namespace

Result<ColorChoice> ParseColor(std::string_view text) {
  if (text == "auto") return ColorChoice::kAuto;
  if (text == "always") return ColorChoice::kAlways;
  if (text == "never") return ColorChoice::kNever;
  return Fail(ErrorKind::kUsage,
              fmt::format("--color takes auto, always or never, not '{}'", VisibleText(text)));
}

Surroundings SurroundingsOf(int file_descriptor) {
  Surroundings here;
  here.is_tty = isatty(file_descriptor) == 1;
  winsize size{};
  if (here.is_tty && ioctl(file_descriptor, TIOCGWINSZ, &size) == 0) here.columns = size.ws_col;
  here.columns_variable = Variable("COLUMNS");
  here.no_color = Variable("NO_COLOR");
  here.clicolor_force = Variable("CLICOLOR_FORCE");
  here.term = Variable("TERM");
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (here.locale.empty()) here.locale = Variable(name);
  }
  return here;
}

std::optional<size_t> LiveColumns(const Surroundings& surroundings) {
  if (!surroundings.is_tty || surroundings.term == "dumb") return std::nullopt;
  return surroundings.columns > 0 ? surroundings.columns - 1 : kUsualLive;
}

size_t HelpWidth(const Surroundings& surroundings) {
  const size_t columns = ColumnsOf(surroundings);
  return columns == 0 ? kUsualHelp : std::clamp(columns, kNarrowestHelp, kWidestHelp);
}

TextStyle StyleFor(const Surroundings& surroundings, ColorChoice color) {
  TextStyle style;
  style.unicode = IsUtf8Locale(surroundings.locale);
  const size_t columns = ColumnsOf(surroundings);
  if (columns > 0) style.width = std::clamp(columns, kNarrowest, kWidest);
  if (color != ColorChoice::kAuto) {
    style.color = color == ColorChoice::kAlways;
  } else if (!surroundings.no_color.empty()) {
    style.color = false;
  } else if (!surroundings.clicolor_force.empty() && surroundings.clicolor_force != "0") {
    style.color = true;
  } else {
    style.color = surroundings.is_tty && surroundings.term != "dumb";
  }
  return style;
}

}  // namespace tacho

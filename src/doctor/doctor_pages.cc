#include "doctor/doctor_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/closest.h"
#include "base/parse_number.h"
#include "base/rule_lines.h"
#include "model/notes.h"
#include "text/markdown_text.h"
#include "text/visible_text.h"

namespace tacho {
namespace embedded {
extern const std::string_view doctor_rules;
}
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Look::kCount)> kLooks{
    "engine", "command", "version", "host", "log", "recording", "trace", "ray"};

bool IsNote(std::string_view id) {
  for (size_t i = 0; i < static_cast<size_t>(NoteId::kCount); ++i)
    if (KindOf(static_cast<NoteId>(i)).id == id) return true;
  return false;
}

Result<void> TakeField(CheckPage& page, std::string_view key, std::string_view value) {
  std::string* text = nullptr;
  for (const auto& [name, field] :
       {std::pair{"title", &page.title}, std::pair{"symptom", &page.symptom},
        std::pair{"cause", &page.cause}, std::pair{"versions", &page.versions},
        std::pair{"remedy", &page.remedy}, std::pair{"verified", &page.verified},
        std::pair{"seen", &page.seen}, std::pair{"engine", &page.engine}})
    if (key == name) text = field;
  if (text != nullptr) {
    *text += fmt::format("{}{}", text->empty() ? "" : " ", value);
    return {};
  }
  while (!value.empty()) {
    const std::string_view word = TakeWord(value);
    if (key == "findings" && (FindingNamed(word) || IsNote(word))) {
      page.findings.emplace_back(word);
      continue;
    }
    const auto look = std::ranges::find(kLooks, word);
    if (key != "looks" || look == kLooks.end())
      return Fail(ErrorKind::kUsage, fmt::format("{} {}: not known", key, word));
    page.looks.push_back(static_cast<Look>(look - kLooks.begin()));
  }
  return {};
}

std::vector<CheckPage> ReadPages() {
  std::vector<CheckPage> pages;
  std::string last;  // the field that a line beginning with "+" continues
  ReadBuiltInRules(embedded::doctor_rules, "rules/doctor.rules",
                   [&](std::string_view line) -> Result<void> {
                     std::string_view rest = line;
                     std::string key(TakeWord(rest));
                     if (key == "check") {
                       pages.emplace_back().id = rest;
                       return {};
                     }
                     if (pages.empty()) return Fail(ErrorKind::kUsage, "expected: check ID");
                     if (key != "+") last = key;
                     return TakeField(pages.back(), last, rest);
                   });
  return pages;
}

// Makes an id of "d1", "D01" or "1", which mean the same.
std::string AsId(std::string_view text) {
  if (text.starts_with('d') || text.starts_with('D')) text.remove_prefix(1);
  const auto number = ParseWhole<int>(text);
  return number ? fmt::format("D{:02}", *number) : "";
}

}  // namespace

std::string_view NameOf(Look look) { return kLooks[static_cast<size_t>(look)]; }

const std::vector<CheckPage>& CheckPages() {
  static const std::vector<CheckPage> pages = ReadPages();
  return pages;
}

std::vector<const CheckPage*> PagesFor(std::string_view id) {
  std::vector<const CheckPage*> found;
  for (const CheckPage& page : CheckPages())
    if (page.id == AsId(id) || std::ranges::find(page.findings, id) != page.findings.end())
      found.push_back(&page);
  return found;
}

std::map<std::string, std::string> PageTitles() {
  std::map<std::string, std::string> titles;
  for (const CheckPage& page : CheckPages()) {
    titles.emplace(page.id, page.title);
    for (const std::string& finding : page.findings) titles.emplace(finding, page.title);
  }
  return titles;
}

std::string NearestPage(std::string_view id) {
  std::vector<std::string> names;
  for (const auto& [name, title] : PageTitles()) names.push_back(name);
  return Closest(id, names);
}

std::string PageText(const CheckPage& page, size_t width) {
  std::string text = fmt::format("{}  {}\n", page.id, page.title);
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("\n{}\n{}\n", label, Wrap("  " + value, width, 2));
  };
  add("symptom", page.symptom);
  add("cause", page.cause);
  add("versions", page.versions);
  add("what to do", page.remedy);
  add("how it is known", page.verified);
  add("what tacho looks at", page.seen);
  add("findings", fmt::format("{}", fmt::join(page.findings, ", ")));
  return text;
}

std::string PageMarkdown(const CheckPage& page) {
  std::string text = fmt::format("# {}: {}\n", page.id, page.title);
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("\n**{}**: {}\n", label, value);
  };
  add("Symptom", page.symptom);
  add("Cause", page.cause);
  add("Versions", page.versions);
  add("What to do", page.remedy);
  add("How it is known", page.verified);
  add("What tacho looks at", page.seen);
  std::string ids;
  for (const std::string& id : page.findings)
    ids += fmt::format("{}[`{}`](../{}.md)", ids.empty() ? "" : ", ", id,
                       IsNote(id) ? "notes" : "findings");
  add("Findings", ids);
  text += fmt::format("\n`tacho doctor --explain {}` prints this page. [All checks](README.md)\n",
                      page.id);
  return text;
}

std::string PagesIndexMarkdown() {
  std::string text =
      "# What tacho doctor checks\n\n"
      "One page a check, from `src/doctor/rules/doctor.rules`; `tacho doctor --explain ID` prints "
      "it. How to use the command: [doctor.md](../doctor.md).\n\n"
      "| check | failure | looked for in |\n|---|---|---|\n";
  for (const CheckPage& page : CheckPages()) {
    std::vector<std::string_view> looks;
    for (const Look look : page.looks) looks.push_back(NameOf(look));
    text += fmt::format("| [{0}]({0}.md) | {1} | {2} |\n", page.id, MarkdownText(page.title),
                        looks.empty() ? "nothing shows it: by description"
                                      : fmt::format("{}", fmt::join(looks, ", ")));
  }
  return text;
}

}  // namespace tacho

#include "cli/doctor/doctor_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/words.h"
#include "text/document.h"
#include "text/format_number.h"
#include "text/json_writer.h"

namespace tacho {
namespace {

constexpr size_t kMostShown = 20;  // most lines in a list of examined things
constexpr size_t kLabelWidth = 11;

bool HasWordOver(std::string_view text, size_t columns) {
  while (!text.empty())
    if (TakeWord(text).size() > columns) return true;
  return false;
}

// Shows each finding once, even if several subjects have it. Returns how many findings are shown.
size_t AddFindings(const Examination& examination, const TextStyle& style, Document& document) {
  size_t shown = 0;
  for (auto one = examination.found.begin(); one != examination.found.end(); ++one) {
    const auto same = [&](const Diagnosis& other) {
      return other.id == one->id && other.remedy == one->remedy && other.severity == one->severity;
    };
    if (std::find_if(examination.found.begin(), one, same) != one) continue;
    ++shown;
    const auto others = std::count_if(one, examination.found.end(), same) - 1;
    const bool differ = std::any_of(one, examination.found.end(), [&](const Diagnosis& other) {
      return same(other) && other.evidence != one->evidence;
    });
    const std::string pages = fmt::format("{}", fmt::join(examination.ChecksOf(one->id), ", "));
    document.Add(
        Labelled{.label = std::string(NameOf(one->severity)),
                 .parts = {one->id + (pages.empty() ? "" : " (" + pages + ")"),
                           one->subject + (others == 0 ? "" : fmt::format(" and {} more", others))},
                 .paint = one->severity >= FindingSeverity::kIncomplete ? Paint::kRed
                          : one->severity == FindingSeverity::kNotice   ? Paint::kYellow
                                                                        : Paint::kPlain});
    document.Add(Labelled{
        .label = "", .parts = {one->evidence + (differ ? " (the first; --json has each)" : "")}});
    // A command that is too long for a line is not wrapped, so that it can be copied.
    document.Add(Labelled{.label = "",
                          .parts = {"do: " + one->remedy},
                          .on_one_line = HasWordOver(one->remedy, style.width - kLabelWidth - 2)});
    document.Add(Gap{});
  }
  return shown;
}

// Names the subjects that could not be looked at, before the details.
void AddHeadline(const Examination& examination, Document& document) {
  std::vector<std::string> unseen;
  for (const Looked& looked : examination.looked)
    if (looked.is_subject && !looked.cannot.empty()) unseen.push_back(looked.at);
  const bool none = examination.found.empty();
  if (unseen.size() > kMostShown) {
    const size_t more = unseen.size() - kMostShown;
    unseen.resize(kMostShown);
    unseen.push_back(fmt::format("{} more", more));
  }
  if (!unseen.empty())
    document.Add(
        Labelled{.label = "",
                 .parts = {fmt::format("{}could not examine {}: why is below",
                                       none ? "nothing found, but " : "", fmt::join(unseen, ", "))},
                 .paint = Paint::kYellow});
  else if (none)
    document.Add(Labelled{.label = "", .parts = {"nothing found"}});
  if (none || !unseen.empty()) document.Add(Gap{});
}

void AddLooks(const Examination& examination, bool cannot, Document& document) {
  size_t shown = 0, all = 0;
  for (const Looked& looked : examination.looked) {
    if (looked.cannot.empty() == cannot || ++all > kMostShown) continue;
    document.Add(Labelled{.label = shown++ > 0 ? ""
                                   : cannot    ? "cannot look"
                                               : "looked at",
                          .parts = {looked.at + (cannot ? ": " + looked.cannot : "")}});
  }
  if (all > kMostShown)
    document.Add(Labelled{.label = "", .parts = {fmt::format("and {} more", all - kMostShown)}});
}

}  // namespace

std::string DoctorText(const std::vector<std::string>& subjects, const Examination& examination,
                       const TextStyle& style) {
  Document document;
  document.Add(
      Labelled{.label = "doctor", .parts = {fmt::format("{}", fmt::join(subjects, ", "))}});
  document.Add(Gap{});
  const size_t shown = AddFindings(examination, style, document);
  AddHeadline(examination, document);
  AddLooks(examination, false, document);
  AddLooks(examination, true, document);
  size_t clear = 0, cannot = 0, found = 0;  // numbers of checks
  for (const CheckOutcome& outcome : JudgeChecks(examination))
    ++(outcome.status == CheckStatus::kFound   ? found
       : outcome.status == CheckStatus::kClear ? clear
                                               : cannot);
  document.Add(Labelled{
      .label = "checks",
      .parts = {FormatCounted(shown, "finding") +
                    (shown < examination.found.size()
                         ? fmt::format(" at {} places", examination.found.size())
                         : ""),
                fmt::format("{} clear", clear),
                cannot == 0 ? "" : fmt::format("{} not decided (--json says why)", cannot),
                fmt::format("{} do not apply", CheckPages().size() - found - clear - cannot)}});
  return RenderText(document, style, {.label_width = kLabelWidth});
}

std::string DoctorJson(const std::vector<std::string>& subjects, const Examination& examination) {
  JsonWriter json;
  json.BeginObject();
  json.Field("schema", 1);
  json.List("subjects", subjects);
  json.Rows("looked", examination.looked, [&](const Looked& looked) {
    json.Fields("at", looked.at, "by", NameOf(looked.look), "cannot", UnlessEmpty(looked.cannot));
  });
  json.Rows("checks", JudgeChecks(examination), [&](const CheckOutcome& outcome) {
    json.Fields("id", outcome.page->id, "title", outcome.page->title, "status",
                NameOf(outcome.status), "why", UnlessEmpty(outcome.why));
    json.List("looked_at", outcome.looked_at);
  });
  json.Rows("findings", examination.found, [&](const Diagnosis& one) {
    json.Fields("id", one.id, "severity", NameOf(one.severity), "subject", UnlessEmpty(one.subject),
                "evidence", one.evidence, "remedy", one.remedy);
    json.List("checks", examination.ChecksOf(one.id));
  });
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho

#include "cli/completion/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/clock_pair.h"
#include "base/parse_number.h"
#include "cli/commands.h"
#include "load/result/records.h"
#include "session/run_folder/run_folder.h"

namespace tacho {
namespace {

// Escapes the text of a line of roff.
std::string Roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  return out;
}

// Quotes the text as one argument of a macro.
std::string Argument(std::string_view text) {
  std::string out = "\"";
  for (const char c : Roff(text)) out += c == '"' ? "\\(dq" : std::string(1, c);
  return out + "\"";
}

std::string Upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string Dashed(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return "tacho-" + name;
}

// The date of SOURCE_DATE_EPOCH (reproducible packages), else today's.
std::string Date() {
  const char* const set = std::getenv("SOURCE_DATE_EPOCH");
  const auto epoch = set == nullptr ? std::nullopt : ParseWhole<int64_t>(set);
  constexpr int64_t kMost = 9'000'000'000;  // seconds; in nanoseconds they fit into int64
  const int64_t unix_ns =
      epoch && *epoch >= 0 && *epoch <= kMost ? *epoch * 1'000'000'000 : ReadClocks().unix_ns;
  const std::string stamp = DateStamp(unix_ns);  // 20261121-222238
  return stamp.substr(0, 4) + "-" + stamp.substr(4, 2) + "-" + stamp.substr(6, 2);
}

std::string Head(const std::string& page, std::string_view summary) {
  return fmt::format(".TH {} 1 {} {} \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     Argument(Upper(page)), Date(),
                     Argument(fmt::format("tacho {}", TachoVersion())), Roff(page), Roff(summary));
}

// The options of a command, in groups. `title`: the roff macro that marks a group's title. Leaves
// out the options in `known`.
std::string Options(const CommandSpec& spec, std::string_view title,
                    const std::set<std::string>& known) {
  std::string out;
  for (const OptionGroup& group : spec.groups) {
    std::string rows;
    for (const OptionRow& row : group.options) {
      if (known.count(row.names) > 0) continue;
      std::string names;
      for (const std::string& name : row.Names())
        names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", Roff(name));
      rows += fmt::format(".TP\n{}{}\n{}\n", names,
                          row.value.empty() ? "" : fmt::format(" \\fI{}\\fR", Roff(row.value)),
                          Roff(row.help));
    }
    if (!rows.empty()) out += fmt::format("{}\n{}\n{}", title, Roff(group.title), rows);
  }
  return out;
}

std::string Examples(const CommandSpec& spec) {
  std::string out;
  for (const CommandSpec::Example& example : spec.examples)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", Roff(example.command),
                       example.shows.empty() ? "." : Roff(example.shows));
  return out;
}

std::string ExitStatuses() {
  std::string out = ".SH EXIT STATUS\n";
  for (const ExitMeaning& exit : ExitMeanings())
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", exit.status, Roff(exit.meaning));
  return out;
}

std::string Files() {
  return ".SH FILES\n"
         ".TP\n\\fItacho\\-DATE\\-TIME/\\fR\na recording: traces, run.json, plan.json, "
         "report.html\n"
         ".TP\n\\fItacho\\-launch\\-NAME\\-DATE\\-TIME/\\fR\na launch: logs and traces\n"
         ".TP\n\\fI.tacho/baselines/NAME/\\fR\nresults that tacho baseline keeps\n";
}

// The section that refers to all other pages. `own`: the page that has this section.
std::string SeeAlso(std::string_view own) {
  std::string out;
  const auto add = [&](const std::string& page) {
    if (page == own) return;
    out += fmt::format("{}.BR {} (1)", out.empty() ? "" : " ,\n", Roff(page));
  };
  add("tacho");
  for (const Command& command : Commands()) add("tacho-" + std::string(command.name));
  return ".SH SEE ALSO\n" + out + "\n";
}

}  // namespace

std::string OverviewPage() {
  std::string out = Head("tacho", "the tachometer for LLM engines");
  out +=
      ".SH SYNOPSIS\n.B tacho\n.I COMMAND\n[options]\n.SH DESCRIPTION\n"
      "Profiles live vLLM or SGLang deployments, proves that every rank\\(aqs trace is there, and "
      "shows where the time goes.\n.SH COMMANDS\n";
  for (const Command& command : Commands())
    out += fmt::format(".TP\n.BR {} (1)\n{}\n", Roff("tacho-" + std::string(command.name)),
                       Roff(command.summary));
  out +=
      ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nall commands; after a command, its "
      "help\n"
      ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR [\\fB\\-\\-json\\fR]\n"
      "the version, and what it was built with\n";
  return out + ExitStatuses() + Files() + SeeAlso("tacho");
}

std::string ManPage(const std::vector<CommandSpec>& specs) {
  const CommandSpec& spec = specs.front();
  const std::string page = Dashed(spec.name);
  std::string out = Head(page, spec.summary);
  out += fmt::format(".SH SYNOPSIS\n.B tacho {}\n{}\n.SH DESCRIPTION\n{}\n", Roff(spec.name),
                     Roff(spec.usage), Roff(spec.description));
  std::set<std::string> known;
  for (const OptionGroup& group : spec.groups)
    for (const OptionRow& row : group.options) known.insert(row.names);
  out += ".SH OPTIONS\n" + Options(spec, ".SS", {}) +
         ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nthe same as a text\n";
  if (specs.size() > 1) out += ".SH ACTIONS\n";
  for (size_t i = 1; i < specs.size(); ++i)
    out += fmt::format(".SS {}\n{}\n{}", Argument(specs[i].name + " " + specs[i].usage),
                       Roff(specs[i].summary), Options(specs[i], ".PP", known));
  out += ".SH EXAMPLES\n" + Examples(spec);
  return out + ExitStatuses() + Files() + SeeAlso(page);
}

std::vector<std::pair<std::string, std::string>> ManPages() {
  std::vector<std::pair<std::string, std::string>> pages = {{"tacho.1", OverviewPage()}};
  for (const Command& command : Commands())
    pages.emplace_back(fmt::format("tacho-{}.1", command.name), ManPage(command.specs()));
  return pages;
}

}  // namespace tacho

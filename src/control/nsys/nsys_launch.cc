#include "control/nsys/nsys_launch.h"

#include <algorithm>

#include "base/words.h"

namespace tacho {
namespace {

// Doubles each '%', because nsys expands %h, %p and %q{VARIABLE} in names.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '%' ? "%%" : std::string(1, c);
  return escaped;
}

std::string OfSession(std::string_view option, std::string_view name) {
  return std::string(option) + "=" + Escaped(name);
}

// Adds those of the `wanted` options ("--option=value") that `help` lists.
void AddKnown(const std::vector<std::string>& wanted, std::string_view help,
              std::vector<std::string>& words) {
  const std::set<std::string> known = NsysOptionsIn(help);
  std::ranges::copy_if(wanted, std::back_inserter(words), [&](const std::string& option) {
    return known.contains(option.substr(0, option.find('=')));
  });
}

}  // namespace

std::set<std::string> NsysOptionsIn(std::string_view help) {
  std::set<std::string> options;
  while (!help.empty()) {
    // Options look like "-t, --trace=" or "--session-new="; the line of a description never begins
    // with a dash.
    std::string_view line = Trim(TakeLine(help));
    if (!line.starts_with('-')) continue;
    const size_t begin = line.find("--");
    if (begin == std::string_view::npos) continue;
    line.remove_prefix(begin);
    const auto end = std::ranges::find_if_not(
        line, [](char c) { return IsLetter(c) || IsDigit(c) || c == '-'; });
    options.emplace(line.begin(), end);
  }
  return options;
}

std::string NsysSessionName(std::string_view launch) { return "tacho-" + std::string(launch); }

std::vector<std::string> NsysLaunchWords(const NsysLaunch& launch, std::string_view help) {
  std::vector<std::string> words = {launch.program, "launch",
                                    OfSession("--session-new", launch.session), "-t",
                                    launch.os_calls ? "cuda,nvtx,osrt" : "cuda,nvtx"};
  AddKnown({"--trace-fork-before-exec=true", "--cuda-graph-trace=node", "--sample=none",
            "--cpuctxsw=none"},
           help, words);
  return words;
}

std::vector<std::string> NsysStartWords(const NsysStart& start, std::string_view help) {
  std::vector<std::string> words = {start.program, "start", OfSession("--session", start.session)};
  AddKnown({"--sample=none", "--cpuctxsw=none"}, help, words);
  words.insert(words.end(), {"-o", Escaped(start.report)});
  return words;
}

std::vector<std::string> NsysStopWords(const std::string& program, const std::string& session) {
  return {program, "stop", OfSession("--session", session)};
}

}  // namespace tacho

#include "cli/completion/completion.h"

#include <algorithm>
#include <variant>

#include "base/words.h"
#include "cli/commands.h"
#include "cli/options/parse.h"

namespace tacho {
namespace {

struct Candidates {
  std::string paths = "words";  // or "files", "folders"
  std::string lines;

  // Adds the word if it begins with `begun`.
  void Add(std::string_view word, std::string_view begun, std::string_view says) {
    if (!word.starts_with(begun)) return;
    lines += word;
    if (!says.empty()) lines += '\t';
    // A line of a shell's menu has room only for the first clause.
    lines += Trim(says.substr(0, says.find_first_of(";:(\n")));
    lines += '\n';
  }
};

// A command line that is still being typed.
class BegunLine {
 public:
  explicit BegunLine(std::vector<std::string> words) : words_(std::move(words)) {
    begun_ = words_.back();
    words_.pop_back();
    // bash splits --name=value into three words.
    if (begun_ == "=") {
      begun_.clear();
    } else if (words_.size() > 1 && words_.back() == "=") {
      words_.pop_back();
    }
  }

  Candidates Complete() {
    if (words_.empty()) return Commands("--version");
    if (words_[0] == "help") return words_.size() == 1 ? Commands("--man") : Candidates{};
    const Command* command = FindCommand(words_[0]);
    if (command == nullptr) return {};
    const std::vector<CommandSpec> specs = command->specs();
    for (const CommandSpec& spec : specs)
      if (words_.size() > 1 && spec.name == words_[0] + " " + words_[1]) return OfAction(spec);
    if (const auto value = Value(specs.front())) return *value;
    if (begun_.starts_with('-')) return Options(specs.front());
    Candidates found;
    if (Arguments(specs.front()) > 0) return Paths(specs.front());
    for (const std::string& word : specs.front().words) found.Add(word, begun_, "");
    for (size_t i = 1; i < specs.size(); ++i)
      found.Add(specs[i].name.substr(words_[0].size() + 1), begun_, specs[i].summary);
    return found.lines.empty() ? Paths(specs.front()) : found;
  }

 private:
  Candidates Commands(std::string_view option) const {
    Candidates found;
    for (const Command& command : tacho::Commands())
      found.Add(command.name, begun_, command.summary);
    if (words_.empty()) found.Add("help", begun_, "help for a command");
    if (!begun_.starts_with('-')) return found;
    found.Add("--help", begun_, "all commands");
    found.Add(option, begun_, "");
    return found;
  }

  Candidates OfAction(const CommandSpec& spec) const {
    if (const auto value = Value(spec)) return *value;
    return begun_.starts_with('-') ? Options(spec) : Paths(spec);
  }

  Candidates Options(const CommandSpec& spec) const {
    Candidates found;
    for (const OptionGroup& group : spec.groups)
      for (const OptionRow& row : group.options)
        for (const std::string& name : row.Names())
          if (name.starts_with("--") || begun_ == "-") found.Add(name, begun_, row.help);
    found.Add("--help", begun_, "help for this command");
    return found;
  }

  // The option `name`; nullptr if there is none, or if it takes no value.
  static const OptionRow* Valued(const CommandSpec& spec, std::string_view name) {
    for (const OptionGroup& group : spec.groups)
      for (const OptionRow& row : group.options)
        if (!row.value.empty() && std::ranges::count(row.Names(), name) > 0) return &row;
    return nullptr;
  }

  // The candidates for the begun word if it is the value of an option; else nullopt. The option is
  // the word before the begun word, or is part of the begun word ("--name=").
  std::optional<Candidates> Value(const CommandSpec& spec) const {
    if (const auto equals = begun_.find('='); begun_.starts_with("--") && equals != begun_.npos) {
      const OptionRow* row = Valued(spec, begun_.substr(0, equals));
      return row == nullptr ? Candidates{} : Values(*row, begun_.substr(0, equals + 1));
    }
    const OptionRow* row = Valued(spec, words_.back());
    for (size_t i = words_.size(); row == nullptr && i > 1 && !words_[i - 1].starts_with('-'); --i)
      if (const OptionRow* list = Valued(spec, words_[i - 2]); list != nullptr && list->words)
        row = list;
    if (row == nullptr || (row->words && begun_.starts_with('-'))) return std::nullopt;
    return Values(*row, "");
  }

  // `before`: the part of the word that stays, such as "--preset=".
  Candidates Values(const OptionRow& row, std::string before) const {
    Candidates found;
    if (row.value.find("DIR") != std::string::npos) found.paths = "folders";
    if (row.value.starts_with("FILE") || row.value.starts_with("PATH") ||
        row.value.starts_with("BASE"))
      found.paths = "files";
    if (std::holds_alternative<std::vector<std::string>*>(row.target))
      before = begun_.substr(0, std::max(before.size(), begun_.rfind(',') + 1));
    for (const std::string& choice : row.choices) found.Add(before + choice, begun_, "");
    if (row.offers != nullptr)
      for (const auto& [value, meaning] : row.offers()) found.Add(before + value, begun_, meaning);
    return found;
  }

  // How many words between the command and the begun word are positional arguments.
  size_t Arguments(const CommandSpec& spec) const {
    size_t count = 0;
    for (size_t i = 1; i < words_.size(); ++i) {
      if (words_[i] == "--") return words_.size();
      if (!words_[i].starts_with('-') && Valued(spec, words_[i - 1]) == nullptr) ++count;
    }
    return count;
  }

  Candidates Paths(const CommandSpec& spec) const {
    Candidates found;
    if (spec.names != nullptr)
      for (const std::string& name : spec.names()) found.Add(name, begun_, "");
    else if (spec.positionals != nullptr && !spec.usage.starts_with("URL"))
      found.paths = "files";
    return found;
  }

  std::vector<std::string> words_;
  std::string begun_;
};

constexpr std::string_view kBash = R"(# bash completion of tacho
_tacho() {
  local IFS=$'\n' begun=${COMP_WORDS[COMP_CWORD]} line lines
  [[ $begun != = ]] || begun=
  mapfile -t lines < <("${1/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  for line in "${lines[@]:1}"; do COMPREPLY+=("${line%%$'\t'*}"); done
  case ${lines[0]} in
    files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$begun")) ;;
    folders) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$begun")) ;;
  esac
}
complete -F _tacho tacho
)";

constexpr std::string_view kZsh = R"(#compdef tacho
_tacho() {
  local line
  local -a lines described
  lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${(@)lines[2,-1]}"; do
    described+=("${${line%%$'\t'*}//:/\\:}${${(M)line%$'\t'*}/$'\t'/:}")
  done
  (( $#described )) && _describe -V tacho described
  case $lines[1] in
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
  esac
}
if [ "$funcstack[1]" = _tacho ]; then _tacho "$@"; else compdef _tacho tacho; fi
)";

constexpr std::string_view kFish = R"(# fish completion of tacho
function __tacho_complete
    set -l words (commandline -opc)
    set -l begun (commandline -ct)
    set -l lines ($words[1] __complete $words[2..] "$begun" 2>/dev/null)
    set -l paths $lines[1]
    set -e lines[1]
    printf '%s\n' $lines
    set -l before (string match -r -- '^--[^=]*=' "$begun")
    set -l value (string replace -r -- '^--[^=]*=' '' "$begun")
    switch "$paths"
        case files
            printf "$before%s\n" (__fish_complete_path "$value")
        case folders
            printf "$before%s\n" (__fish_complete_directories "$value" '')
    end
end
complete -c tacho -f -a '(__tacho_complete)'
)";

}  // namespace

std::string CompletionText(std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  const Candidates found = BegunLine(std::move(words)).Complete();
  return found.paths + "\n" + found.lines;
}

const std::vector<std::string>& CompletionShells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string_view CompletionScript(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  return shell == "fish" ? kFish : "";
}

}  // namespace tacho

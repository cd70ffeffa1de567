#include "cli/engine/engine_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/closest.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

struct Action {
  std::string name, summary;
};
const std::vector<Action> kActions = {
    {"list", "the engines behind a router or in a launch log, one URL a line"},
    {"status", "each engine in a line: what it is, and whether it can be profiled"},
    {"start", "start the profilers of all engines, or of none"},
    {"stop", "stop the profilers, and wait until the traces are written"},
    {"sleep", "put engines to sleep"},
    {"wake", "wake engines that sleep"},
    {"hold", "keep engines ready for recordings until Ctrl-C, or while a command runs"}};

}  // namespace

const std::vector<std::string>& EngineActions() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Action& action : kActions) all.push_back(action.name);
    return all;
  }();
  return names;
}

std::vector<OptionRow> With(std::vector<OptionRow> rows, std::vector<OptionRow> more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

OptionGroup RemoteOptions::Rows() {
  return {"connection",
          With(server.Rows("$TACHO_API_KEY"),
               {{"--timeout", "TIME",
                 "longest wait for an answer, such as 10m (default 0: to a start or a stop as long "
                 "as it takes, to a question 30s)",
                 &timeout}})};
}

std::string EngineOptions::Action() const {
  if (!action.empty()) return action;
  return words.empty() ? "" : words[0];
}

std::vector<std::string> EngineOptions::Targets() const {
  std::vector<std::string> targets(words.begin() + (action.empty() && !words.empty() ? 1 : 0),
                                   words.end());
  if (!router_url.empty()) targets.push_back(router_url);
  return targets;
}

std::vector<OptionRow> StartOptions::Rows() {
  return {
      {"--steps,--num-steps", "N", "N engine steps (default: until the stop)", &steps, 1},
      {"--profile-options", "NAME=VALUE,...",
       "fields of the engine's start request, such as with_stack or activities=CPU+GPU (SGLang), "
       "profile_prefix=NAME or delay_iterations=N (vLLM from 0.32 on)",
       &fields},
      {"--activities", "NAME,...", "the same as activities=...", &activities},
      {"--with-stack", "", "the same as with_stack: Python stacks; needs --steps", &with_stack},
      {"--record-shapes", "", "the same as record_shapes: input shapes", &record_shapes},
      {"--by-stage,--profile-by-stage", "",
       "the same as profile_by_stage: prefill and decode apart; needs --steps", &by_stage},
      {"--output-dir", "DIR", "SGLang: the folder for traces on its machine", &output_dir},
  };
}

Result<ProfileOptions> StartOptions::Profile() const {
  ProfileOptions profile;
  profile.steps = steps;
  if (!output_dir.empty()) profile.output_dir = output_dir;
  std::vector<std::string> all = fields;
  if (!activities.empty()) all.push_back(fmt::format("activities={}", fmt::join(activities, "+")));
  if (with_stack) all.push_back("with_stack");
  if (record_shapes) all.push_back("record_shapes");
  if (by_stage) all.push_back("profile_by_stage");
  for (const std::string& field : all) {
    size_t equals = std::min(field.find('='), field.size());
    std::string name = field.substr(0, equals);
    std::string value = equals == field.size() ? "true" : field.substr(equals + 1);
    if (name.empty() || value.empty())
      return Fail(ErrorKind::kUsage,
                  fmt::format("--profile-options {}: write it as NAME=VALUE", VisibleText(field)));
    if (!profile.fields.emplace(name, value).second)
      return Fail(ErrorKind::kUsage,
                  fmt::format("--profile-options: {} is given twice", VisibleText(name)));
  }
  return profile;
}

namespace {

OptionGroup HoldRows(EngineOptions& options) {
  return {"hold",
          {{"--workers", "N", "wait for so many engines (default 1)", &options.least_workers, 1},
           {"--wake", "", "wake a vLLM that sleeps, and put it to sleep again at the end",
            &options.wake},
           {"--ready-within", "TIME", "longest wait (default 30m; 0: without end)",
            &options.ready_within},
           {"--for", "TIME", "release after this time (default: on Ctrl-C)", &options.hold_for},
           {"-q,--quiet", "", "no progress on standard error, only failures and changes",
            &options.quiet}}};
}

}  // namespace

CommandSpec EngineSpec(EngineOptions& options, const std::string& action) {
  CommandSpec spec;
  spec.name = "engine";
  spec.summary = "the engines' own profilers: list, status, start, stop, sleep, wake, hold";
  spec.usage = "ACTION TARGET... [options]";
  spec.description =
      "TARGET is the URL of a router or of an engine, a launch log, or a file with a list of URLs "
      "(kubectl's YAML or JSON too). Requests go to the engines themselves, to all at the same "
      "time. `tacho record` does the whole way; these are its parts, for scripts.";
  const auto of = [&](std::string_view name) { return action.empty() || action == name; };
  if (of("start"))
    spec.groups.push_back(
        {"start", With(options.profile.Rows(),
                       {{"--key", "NAME",
                         "name of the session, in the names of its files (default: date and time)",
                         &options.key}})});
  if (of("sleep"))
    spec.groups.push_back({"sleep",
                           {{"--level", "N", "1 keeps the weights in host memory, 2 drops them",
                             &options.level, 1}}});
  if (of("hold")) spec.groups.push_back(HoldRows(options));
  std::vector<OptionRow> other = {
      {"--json", "", "one JSON object", &options.json},
      {"--router-url", "URL", "the same as TARGET, as tools/profile_rollout.py has it",
       &options.router_url, 0, false, Secret::kUrl},
      {"--action", "NAME",
       "start, stop, ...: instead of that word, as tools/profile_rollout.py has it",
       &options.action}};
  if (of("start") || of("stop") || of("sleep") || of("wake"))
    other.insert(
        other.begin(),
        {"--force", "",
         "start: first stop a running session, whoever started it; stop: also under another "
         "tacho's recording; sleep, wake: also where that may end SGLang's scheduler",
         &options.force});
  spec.groups.push_back({"other", std::move(other)});
  spec.groups.push_back(options.remote.Rows());
  spec.positionals = &options.words;
  spec.examples = {
      {"tacho engine status http://127.0.0.1:30055", "every worker behind a router, in a line"},
      {"tacho engine start http://127.0.0.1:30055 --steps 5", "profile five steps on all of them"},
      {"tacho engine stop http://127.0.0.1:30055", "stop, and wait until the traces are written"},
      {"tacho engine status launch.log", "the router that a slime or vime run printed"},
      {"tacho engine hold launch.log --workers 4 -- tacho record launch.log",
       "record as soon as four engines are ready"}};
  for (const Action& one : kActions) {
    if (one.name != action) continue;
    spec.name += " " + action;
    spec.summary = one.summary;
    spec.usage = action == "hold" ? "TARGET... [options] [-- COMMAND...]" : "TARGET... [options]";
    std::erase_if(spec.examples, [&](const CommandSpec::Example& example) {
      return !example.command.starts_with("tacho " + spec.name + " ");
    });
  }
  return spec;
}

Result<void> CheckEngineOptions(const EngineOptions& options) {
  std::string action = options.Action();
  if (action.empty())
    return Fail(ErrorKind::kUsage, fmt::format("no action: one of {}; see 'tacho engine --help'",
                                               fmt::join(EngineActions(), ", ")));
  if (std::find(EngineActions().begin(), EngineActions().end(), action) == EngineActions().end()) {
    std::string nearest = Closest(action, EngineActions());
    return Fail(ErrorKind::kUsage,
                fmt::format("unknown action '{}'{}: one of {}", VisibleText(action),
                            nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest),
                            fmt::join(EngineActions(), ", ")));
  }
  if (options.Targets().empty())
    return Fail(ErrorKind::kUsage, fmt::format("no target: tacho engine {} URL", action));
  if (options.command.empty()) return {};
  if (action != "hold")
    return Fail(ErrorKind::kUsage, "only tacho engine hold takes a command after --");
  if (options.hold_for != "0")
    return Fail(ErrorKind::kUsage, "--for: with a command the hold lasts as long as the command");
  return {};
}

}  // namespace tacho

#include "cli/launch/launch_options.h"

#include <fmt/format.h>

#include "base/closest.h"
#include "cli/screen/interrupt.h"
#include "control/engine_type.h"
#include "ingest/nsys_sqlite/nsys_program.h"
#include "text/visible_text.h"

namespace tacho {

OptionRow PythonRow(std::string& python) {
  return {"--python", "PATH",
          "the Python that the engine is installed for (default: that of the vllm in $PATH, or "
          "python3)",
          &python};
}

std::vector<OptionRow> EngineRows(EngineArguments& engine) {
  std::string presets;
  for (const PresetWords& known : Presets())
    presets += fmt::format("{}{} ({})", presets.empty() ? "" : "; ", known.name, known.meaning);
  return {OptionRow{"--preset", "NAME", presets + "; default light", &engine.preset}.OneOf(
              NamesOf(Presets())),
          PythonRow(engine.python),
          {"--env", "NAME=VALUE", "a variable of the engine's environment", &engine.environment, 0,
           true, Secret::kVariable},
          {"--replicas", "N", "so many engines, behind their router where one is installed",
           &engine.replicas, 1},
          {"--port", "PORT", "of the first engine (default: the next free one)", &engine.port, 1},
          {"--log-requests", "", "the engine logs each request", &engine.log_requests},
          {"--ready-within", "TIME", "longest start (default 10m; 0: without end)",
           &engine.ready_within},
          {"--force", "", "start it although its options do not fit its version", &engine.force}};
}

CommandSpec LaunchSpec(LaunchArguments& a) {
  CommandSpec spec;
  spec.name = "launch";
  spec.summary = "start vLLM or SGLang so that it can be profiled, and end it cleanly";
  spec.usage = "vllm|sglang [options] -- ENGINE'S ARGUMENTS, or: list, stop [NAME...]";
  spec.description =
      "Starts the installed engine with the profiler options that fit its version, checks them "
      "before the start, shows its progress until it answers, and proves that it can be profiled. "
      "Holds it until Ctrl-C and then ends all its processes, also if tacho itself is killed. "
      "After "
      "-- come the engine's own arguments, which win over the preset, or a whole command.";
  spec.positionals = &a.words;
  spec.words = {"vllm", "sglang"};
  spec.groups = {
      {"the engine", EngineRows(a.engine)},
      {"the launch",
       {{"--name", "NAME", "what it is called in logs and by list and stop", &a.name},
        {"-o,--out", "DIR", "where its folder is made (default: here)", &a.out},
        {"--detach", "", "return once it is ready; tacho launch stop ends it", &a.detach},
        {"--dry-run", "", "print the exact command and environment, start nothing", &a.dry_run},
        {"--json", "", "the launch as JSON", &a.json},
        {"-q,--quiet", "", "no progress", &a.quiet}}}};
  spec.examples = {
      {"tacho launch vllm -- Qwen/Qwen3-0.6B --max-model-len 4096", "one engine, until Ctrl-C"},
      {"tacho launch vllm --preset deep --dry-run -- Qwen/Qwen3-0.6B",
       "what would be started, with stacks"},
      {"tacho launch sglang --python env/bin/python --replicas 2 --detach -- Qwen/Qwen3-0.6B",
       "two engines behind their router, in the background"},
      {"tacho launch stop", "ends it"}};
  return spec;
}

Result<EngineKind> ParseEngine(const std::string& name) {
  for (const EngineType* type : LaunchedTypes())
    if (type->name() == name) return type->kind();
  const std::string nearest = Closest(name, {"vllm", "sglang", "list", "stop"});
  return Fail(ErrorKind::kUsage,
              fmt::format("tacho launches vllm or sglang, not '{}'{}", VisibleText(name),
                          nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest)));
}

void UseKeyOf(const PlannedLaunch& plan, const ServerOptions& given, HttpClientOptions& http) {
  if (!plan.api_key.empty() && given.api_key.empty() && given.api_key_file.empty())
    http.bearer_key = plan.api_key;
}

Result<PlanOfHere> PlanUntilInterrupted(EngineKind kind, const EngineArguments& arguments,
                                        const std::string& folder, const std::string& session) {
  std::stop_token stop;
  auto plan = [&] {
    const InterruptScope interrupt("nothing is started");
    stop = interrupt.token();
    NsysToUse nsys{.program = "", .session = session};
    if (arguments.preset == "nsys")
      if (const auto found = FindNsys(stop)) nsys.program = found->path;
    return PlanHere(kind, arguments, folder, nsys, stop);
  }();
  // Checked only after the InterruptScope has ended: until then a signal may still come.
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  return plan;
}

}  // namespace tacho

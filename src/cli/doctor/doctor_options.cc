#include "cli/doctor/doctor_options.h"

#include "cli/launch/launch_options.h"
#include "doctor/doctor_pages.h"

namespace tacho {

CommandSpec DoctorSpec(DoctorArguments& a) {
  CommandSpec spec;
  spec.name = "doctor";
  spec.summary =
      "why profiling does not work here: every known failure, looked for, with its remedy";
  spec.usage = "[TARGET|RUN|TRACE|LOG]... [options], or: [options] -- COMMAND LINE";
  spec.description =
      "Looks for all known failures of profiling and changes nothing. TARGET is the URL of a "
      "router "
      "or an engine, a launch log, or a list of URLs: the engines are asked, and those of this "
      "host "
      "looked at. RUN is the folder of a recording, TRACE a trace or a folder of traces, LOG an "
      "engine's log. COMMAND LINE is how you would start an engine. Without any of them: the "
      "engines, nsys and room of this host. The exit status is 4 if something would spoil a "
      "recording.";
  spec.positionals = &a.subjects;
  spec.groups = {
      {"what to look at",
       {{"--engine-version", "V",
         "of the engine of a command line or a log (default: the installed one is asked)",
         &a.engine_version},
        PythonRow(a.python),
        {"--env", "NAME=VALUE", "a variable of the command line's environment", &a.environment, 0,
         true, Secret::kVariable}}},
      {"output",
       {{"--json", "", "one JSON object: checks[] and findings[]", &a.json},
        {"--no-progress", "", "no progress bar on standard error", &a.no_progress},
        OptionRow{"--explain", "ID",
                  "the page of a check (D06) or of a finding's id, and nothing else", &a.explain}
            .Offering(PageTitles),
        {"--pages", "DIR", "write all pages there as Markdown, and nothing else", &a.pages}}}};
  spec.groups.push_back(a.remote.Rows());
  spec.examples = {
      {"tacho doctor http://127.0.0.1:8000",
       "can this engine be profiled, and what would go wrong?"},
      {"tacho doctor -- vllm serve Qwen/Qwen3-0.6B --profiler-config '{\"profiler\":\"torch\"}'",
       "what is wrong with this command line, before it takes a minute to fail"},
      {"tacho doctor vllm.log", "what an engine's log says about its profiler, and what ended it"},
      {"tacho doctor tacho-20261121-183000", "a recording: its findings, logs and traces"},
      {"tacho doctor --explain D06", "what a check is about"}};
  return spec;
}

}  // namespace tacho

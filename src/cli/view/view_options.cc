#include "cli/view/view_options.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "cli/options/duration_argument.h"
#include "cli/options/window_argument.h"
#include "cli/screen/read_on_cluster.h"
#include "serve/parameters.h"

namespace tacho {
namespace {

tl::unexpected<Error> RefuseView(const std::string& problem) {
  return Fail(ErrorKind::kUsage, problem + "; see 'tacho view --help'");
}

Result<ServedStart> StartOf(const ViewOptions& o) {
  if ((o.gap ? 1 : 0) + (o.step ? 1 : 0) + (o.at ? 1 : 0) + (o.find ? 1 : 0) > 1)
    return RefuseView("--gap, --step, --find and --at do not go together");
  using Kind = ServedStart::Kind;
  if (o.gap) return ServedStart{Kind::kGap, static_cast<size_t>(*o.gap), {}};
  if (o.step) return ServedStart{Kind::kStep, static_cast<size_t>(*o.step), {}};
  if (o.find && o.find->empty()) return RefuseView("--find: an empty name");
  if (o.find) return ServedStart{Kind::kName, 0, {}, *o.find};
  if (!o.at) return ServedStart{};
  TACHO_ASSIGN_OR_RETURN(const DurationNs time, WithContext(ParseTraceTime(*o.at), "--at"));
  if (time.ns > kMostApiTime) return RefuseView("--at: no trace is that long");
  return ServedStart{Kind::kTime, 0, time};
}

}  // namespace

ReadingArguments ViewOptions::OnNodes() const {
  ReadingArguments nodes;
  nodes.command = "view";
  nodes.traces = traces;
  nodes.ray = model.ray;
  nodes.ray_program = model.ray_program;
  return nodes;
}

// Long: a row for each option.
CommandSpec ViewSpec(ViewOptions& o) {
  CommandSpec spec;
  spec.name = "view";
  spec.summary = "the traces in the browser: a timeline of all ranks, steps, idle causes";
  spec.usage = "PATH... [options]";
  spec.description =
      "PATH is what tacho analyze takes: a trace, a folder of all ranks, an archive, or - for "
      "standard input. Prints the address of the page, opens it, and serves it until Ctrl-C. Ranks "
      "appear as they are read. Only this user of this machine can open it: keep the address, "
      "which holds a key, to yourself.";
  spec.positionals = &o.traces.paths;
  OptionGroup on_cluster = o.model.OnACluster("the traces come here");
  on_cluster.options.push_back(
      {"--fetch-to", "DIR",
       "with --ray: the traces stay in DIR/NODE, and what an earlier call brought is not fetched "
       "again (default: a temporary folder, removed at the end)",
       &o.fetch_to});
  spec.groups = {
      {"where to begin",
       {{"--gap", "N", "the Nth longest idle gap", &o.gap, 1},
        {"--step", "N", "the Nth step", &o.step, 1},
        {"--find", "NAME", "the first slice with NAME in its name, such as a kernel", &o.find},
        {"--at", "TIME", "a time since the first event: 1.234s, 80ms", &o.at}}},
      {"what to look at",
       {{"--rank", "R", "only the traces of rank R, or of several: 0,3", &o.traces.rank},
        {"--session", "S",
         "of a folder or archive of several profiling sessions: latest (the default there), all, "
         "or a part of the path of one of its files",
         &o.traces.session},
        o.traces.KeepSecrets()}},
      o.model.TheModel(),
      on_cluster,
      {"how",
       {{"--port", "N", "port to listen on (default: 8137, or the next free one; 0: any)", &o.port},
        {"--no-open", "", "do not open a browser", &o.no_open},
        {"--idle-exit", "TIME", "end when no page was open for that time: 30m, 2h", &o.idle_exit},
        {"--host", "IP", "address to listen on (default 127.0.0.1: this machine alone)", &o.host},
        {"--allow-host", "NAME", "a further name that the page may be asked for by",
         &o.allow_hosts},
        {"--allow-frame", "ORIGIN",
         "a page that may show this one in a frame: http://localhost:8888, or self for one behind "
         "the same proxy",
         &o.allow_frames},
        {"--assets-dir", "DIR", "the page's files from DIR, to develop them", &o.assets_folder}}},
  };
  spec.examples = {
      {"tacho view vllm_profile/", "all ranks of a run"},
      {"tacho view rank0.pt.trace.json.gz --gap 1", "one trace, at its longest idle gap"},
      {"tacho view run/ --no-open --idle-exit 1h", "on a machine without a display"},
      {"tacho view --ray http://head:8265 /tmp/profile --rank 0",
       "rank 0 of a run on the nodes of a Ray cluster"},
  };
  return spec;
}

bool IsLoopbackHost(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

Result<ViewPlan> PlanView(const ViewOptions& options) {
  if (options.traces.paths.empty()) return RefuseView("no trace given");
  if (options.port.value_or(0) > 65'535) return RefuseView("a port is at most 65535");
  if (options.fetch_to && !options.model.ray) return RefuseView("--fetch-to needs --ray");
  TACHO_RETURN_IF_ERROR(CheckRayOptions(options.OnNodes(), options.traces.paths));
  ViewPlan plan;
  TACHO_ASSIGN_OR_RETURN(plan.choice, ChoiceOf(options.traces, "view"));
  TACHO_ASSIGN_OR_RETURN(plan.start, StartOf(options));
  TACHO_ASSIGN_OR_RETURN(const ReadOptions reading, ReadOptionsOf(options.model));
  plan.roofline = reading.roofline;
  if (options.idle_exit) {
    TACHO_ASSIGN_OR_RETURN(plan.idle_exit,
                           WithContext(ParseDuration(*options.idle_exit), "--idle-exit"));
  }
  plan.server.host = options.host;
  if (options.port) plan.server.port = static_cast<uint16_t>(*options.port);
  plan.server.allow_hosts = options.allow_hosts;
  plan.server.allow_frames = options.allow_frames;
  plan.server.assets_folder = options.assets_folder;
  return plan;
}

}  // namespace tacho

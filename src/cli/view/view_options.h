#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/temporary_folder.h"
#include "cli/options/parse.h"
#include "cli/options/trace_choice.h"
#include "cli/screen/reading.h"
#include "serve/page_server.h"
#include "serve/served_run.h"

namespace tacho {

// The arguments of `tacho view`.
struct ViewOptions {
  TraceArguments traces;
  ReadingArguments model;  // only those of TheModel() and OnACluster()
  std::optional<std::string> fetch_to;
  std::optional<int64_t> port, gap, step;
  std::string host = "127.0.0.1";
  std::vector<std::string> allow_hosts, allow_frames;
  std::optional<std::string> idle_exit, at, find;
  std::string assets_folder;
  bool no_open = false;

  // The arguments for the nodes of a cluster. The model is for what is read here.
  [[nodiscard]] ReadingArguments OnNodes() const;
};

// The rows of the options, bound to `options`.
CommandSpec ViewSpec(ViewOptions& options);

// The checked arguments.
struct ViewPlan {
  TraceChoice choice;
  RooflineSetup roofline;
  PageServerOptions server;
  ServedStart start;
  std::optional<DurationNs> idle_exit;
  // Set by FetchForView.
  std::optional<TemporaryFolder> folder = {};         // of the traces that were fetched
  std::optional<Readout<RunAnalysis>> of_nodes = {};  // without its traces
};
// Fails with kUsage for contradictions and impossible values.
Result<ViewPlan> PlanView(const ViewOptions& options);

// Whether only this machine can reach a server that listens on `host`.
bool IsLoopbackHost(const std::string& host);

}  // namespace tacho

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/live/discover.h"
#include "control/live/probe.h"
#include "control/live/profile_control.h"
#include "control/log/engine_log.h"
#include "session/files/fetch_files.h"
#include "session/plan/budget.h"
#include "session/proof/proof.h"

namespace tacho {

struct RecordedWorker {
  Worker worker;
  EngineFacts facts;
  ProfileOptions profile;  // what its profiler will be asked to record
  std::string key;         // the session's key: file names begin with it if the engine reads a key
  std::string folder;      // where its files appear, as seen from here; "" if they cannot be seen
  // The engine's folder on its own hosts, where its traces stay (RecordOptions::traces_stay).
  std::string stays_in;
  // The folder on this host whose disk its files fill; "": not known, or on another host.
  std::string written_at;
  std::optional<RemoteFolder> remote;  // if set, its files are fetched from there
  EngineLog log;
  std::string nsys_session;  // the nsys session that it runs in
  // Set if it is recorded by HTTP; then its flush stalls the engine.
  std::optional<ControlRequest> start, stop;
  std::optional<ControlOutcome> started, stopped;
  // What a session on it writes and costs, as known before the start.
  std::optional<ProfileFigures> figures;
  // When an earlier recording gave `figures` (0: not known); absent: no recording gave them.
  std::optional<int64_t> figures_unix_s;
  std::optional<int64_t> trial_start_ns;   // how long its first start took, in a trial
  std::optional<Forecast> forecast;        // what the user was shown before the start
  int64_t written_unix_ns = 0;             // when it had written everything, by its own clock
  double table_ns = 0;                     // time from its last trace file to its table file
  std::optional<ProfileFigures> recorded;  // what this recording wrote and cost
  std::optional<MetricsSnapshot> before, after;
  WorkerExpectation expectation;  // its `files` are the paths in the run folder
};

}  // namespace tacho

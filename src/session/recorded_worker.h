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
  ProfileOptions profile;  // what its profiler is asked to record
  std::string key;         // of its session: file names begin with it if the engine reads a key
  std::string folder;      // where its files appear, as seen from here; "" if they cannot be seen
  std::string written_at;  // the folder on this host whose disk its files fill; "": none
  std::optional<RemoteFolder> remote;  // where its files are fetched from
  EngineLog log;
  std::string nsys_session;                   // the name of the nsys session that it runs in
  std::optional<ControlRequest> start, stop;  // present: the engine itself profiles and stalls
  std::optional<ControlOutcome> started, stopped;
  std::optional<ProfileFigures> figures;   // what it writes, as known before the start
  std::optional<int64_t> figures_unix_s;   // if an earlier recording gave them: its time, or 0
  std::optional<int64_t> trial_start_ns;   // how long its first start took, in a trial
  std::optional<Forecast> forecast;        // shown before the start
  int64_t written_unix_ns = 0;             // when it had written all, by its own clock
  double table_ns = 0;                     // time from its last trace file to its table file
  std::optional<ProfileFigures> recorded;  // what was recorded
  std::optional<MetricsSnapshot> before, after;
  WorkerExpectation expectation;  // its `files` are those in the run folder
};

}  // namespace tacho

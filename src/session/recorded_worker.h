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
  ProfileOptions profile;  // what is asked of it
  std::string key;         // of its session: the beginning of its files' names where it reads one
  std::string folder;      // where it writes, as seen from here; "" when it cannot be seen
  std::optional<RemoteFolder> remote;  // where its files are fetched from
  EngineLog log;
  std::string nsys_session;                   // the name of the one that it runs in
  std::optional<ControlRequest> start, stop;  // absent: by the daemon
  std::optional<ControlOutcome> started, stopped;
  std::optional<ProfileFigures> figures;   // what is known before the start of what it writes
  std::optional<int64_t> figures_unix_s;   // of an earlier recording: when that was; 0: not told
  std::optional<int64_t> trial_start_ns;   // how long its first start took, in a trial
  std::optional<Forecast> forecast;        // what was said before the start
  int64_t written_unix_ns = 0;             // when it had written all, by its own clock
  double table_ns = 0;                     // from its last trace to its table
  std::optional<ProfileFigures> recorded;  // what it came to
  std::optional<MetricsSnapshot> before, after;
  WorkerExpectation expectation;  // its files are those in the run folder
};

}  // namespace tacho

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/names/classifier.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "ingest/nsys_sqlite/nsys_reader.h"
#include "model/trace_builder.h"
#include "simulate/known/known_run.h"
#include "simulate/trace/nsys_export.h"

namespace tacho {

inline const Classifier& KnownRunRules() {
  static const Classifier classifier = *Classifier::Create();
  return classifier;
}

// A rank's trace of a simulated run, read back from Kineto's JSON.
inline Trace ReadKnownTrace(const simulate::KnownRun& run, int64_t rank) {
  const std::string json = simulate::KnownTrace(run, rank);
  TraceBuilder builder;
  const auto stream = StreamOfMemory(json);
  EXPECT_TRUE(ReadKinetoJson(*stream, builder));
  return std::move(builder).Finish();
}

// The traces of all ranks, read back from the run's export of Nsight Systems.
inline std::vector<Trace> ReadKnownExport(const simulate::KnownRun& run) {
  auto database = SqliteDatabase::InMemory();
  EXPECT_TRUE(WriteNsysExport(run.sources, run.recording, *database));
  std::map<std::string, TraceBuilder> builders;  // by pid; pids are in the order of ranks
  const NsysReadOptions options{
      .next_sink = [&](const std::string& part) -> EventSink& { return builders[part]; }};
  EXPECT_TRUE(ReadNsysSqlite(*database, options));
  std::vector<Trace> traces;
  for (auto& [part, builder] : builders) traces.push_back(std::move(builder).Finish());
  return traces;
}

// The analysis that `tacho analyze` makes of a folder with these traces.
inline RunAnalysis AnalyzeKnownTraces(const std::vector<Trace>& traces) {
  RunAnalysis run;
  for (const Trace& trace : traces) {
    run.traces.push_back(AnalyzeTrace(trace, KnownRunRules(), {.scope = {}, .step_profile = true}));
    run.traces.back().path = "rank" + std::to_string(run.traces.size() - 1);
  }
  AnalyzeRun(run);
  return run;
}

// The analysis of the Kineto traces of all ranks.
inline RunAnalysis AnalyzeKnownRun(const simulate::KnownRun& run) {
  std::vector<Trace> traces;
  for (int64_t rank = 0; rank < run.options.ranks; ++rank)
    traces.push_back(ReadKnownTrace(run, rank));
  return AnalyzeKnownTraces(traces);
}

}  // namespace tacho

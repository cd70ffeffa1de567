#pragma once

#include <gtest/gtest.h>

#include <string>

#include "analysis/analyze.h"
#include "analysis/classifier.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "model/trace_builder.h"
#include "simulate/known/known_run.h"

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

// The analyses of all ranks, as `tacho analyze` of the run's folder makes them.
inline RunAnalysis AnalyzeKnownRun(const simulate::KnownRun& run) {
  RunAnalysis out;
  for (int64_t rank = 0; rank < run.options.ranks; ++rank) {
    TraceAnalysis analysis = AnalyzeTrace(ReadKnownTrace(run, rank), KnownRunRules());
    analysis.path = simulate::KnownTraceName(run, rank);
    out.traces.push_back(std::move(analysis));
  }
  AnalyzeRun(out);
  return out;
}

}  // namespace tacho

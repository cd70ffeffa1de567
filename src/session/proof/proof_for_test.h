#pragma once

#include <string>
#include <vector>

#include "session/proof/proof.h"

// A worker whose session lasted 5 s, and traces of that session.
namespace tacho {

inline constexpr int64_t kProofStart = 1'000'000'000'000, kProofStop = kProofStart + 5'000'000'000;

inline WorkerExpectation AWorker(std::string url, std::vector<std::string> files) {
  WorkerExpectation worker;
  worker.url = std::move(url);
  worker.facts.kind = EngineKind::kVllm;
  worker.start_unix_ns = kProofStart;
  worker.stop_unix_ns = kProofStop;
  worker.files = std::move(files);
  return worker;
}

inline TraceEvidence ATrace(std::string path, int64_t rank = 0, int64_t world = 1,
                            int64_t pid = 100) {
  TraceEvidence trace;
  trace.path = std::move(path);
  trace.rank = rank;
  trace.world_size = world;
  trace.pids = {pid};
  trace.first_unix_ns = kProofStart + 1'000'000;
  trace.last_unix_ns = kProofStop - 1'000'000;
  trace.steps = 5;
  return trace;
}

inline Finding Failed(std::string evidence) {
  return {FindingId::kDidNotStart, "", std::move(evidence)};
}

inline std::string Why(const Proof& proof, size_t i = 0) {
  return proof.ranks.at(i).why ? proof.ranks[i].why->Words() : "";
}
inline std::vector<std::string> Missing(const Proof& proof) {
  return TextsOf(proof.Missing(), true);
}
inline std::vector<std::string> Remarks(const Proof& proof) {
  return TextsOf(proof.remarks, false);
}

}  // namespace tacho

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/notes.h"

namespace tacho {

// A rank that a recording could not prove (no file, a damaged file, ...).
struct UnprovenRank {
  std::string sentence;  // "w0 TP1 (http://...): no file of this rank: ..."
  // Set if the recording brought no file of the rank: the worker ("w0"), and the number of the rank
  // in the worker's only engine.
  std::optional<std::pair<std::string, int64_t>> without_file = {};
  bool operator==(const UnprovenRank&) const = default;
};

// The unproven ranks of a run.json, 1,000 at most; empty if run.json cannot be read.
std::vector<UnprovenRank> UnprovenOfRunJson(std::string_view text);

// The same for all recordings that the traces belong to (RUN/traces/... beside RUN/run.json).
std::vector<UnprovenRank> FindUnproven(const std::vector<std::string>& traces);

// Results keep only the sentences. The functions below are the only ones that read them.

// Whether the sentence is about the worker or one of its ranks.
bool IsOfWorker(std::string_view sentence, std::string_view worker);
// Whether the sentence is about the whole worker, because its ranks are not known.
bool IsAboutWholeWorker(std::string_view sentence, std::string_view worker);
// Whether the sentence names this defect of the trace. The run folder may have moved since.
bool NamesDefect(std::string_view sentence, const std::string& trace, NoteId defect);

}  // namespace tacho

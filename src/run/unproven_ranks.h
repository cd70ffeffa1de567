#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/notes.h"

namespace tacho {

// A rank for which a recording could not prove that its trace is complete (no file, a damaged file,
// ...).
struct UnprovenRank {
  std::string sentence;  // "w0 TP1 (http://...): no file of this rank: ..."
  // Set if the recording got no file of this rank and the worker has only one engine: the worker
  // ("w0") and the number of the rank.
  std::optional<std::pair<std::string, int64_t>> without_file = {};
  bool operator==(const UnprovenRank&) const = default;
};

// The unproven ranks listed in a run.json, at most 1,000; empty if it cannot be read.
std::vector<UnprovenRank> UnprovenOfRunJson(std::string_view text);

// The same for all recordings that `traces` belong to (RUN/traces/..., with RUN/run.json).
std::vector<UnprovenRank> FindUnproven(const std::vector<std::string>& traces);

// Results store only the sentences. No other code than the functions below may interpret these.

// Whether a sentence is about this worker or one of its ranks.
bool IsOfWorker(std::string_view sentence, std::string_view worker);
// Whether a sentence is about the worker as a whole, because its ranks are unknown.
bool IsAboutWholeWorker(std::string_view sentence, std::string_view worker);
// Whether a sentence is about this defect of this trace. Only the file name is compared, because
// the run folder may have been moved.
bool NamesDefect(std::string_view sentence, const std::string& trace, NoteId defect);

}  // namespace tacho

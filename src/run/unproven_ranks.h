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
  // The worker ("w0") and the rank in its only engine, if the recording brought no file of it.
  std::optional<std::pair<std::string, int64_t>> without_file = {};
  bool operator==(const UnprovenRank&) const = default;
};

// The unproven ranks of a run.json, 1,000 at most; empty if run.json cannot be read.
std::vector<UnprovenRank> UnprovenOfRunJson(std::string_view text);

// The same for all recordings in whose folders the traces lie (RUN/traces/... beside RUN/run.json).
std::vector<UnprovenRank> FindUnproven(const std::vector<std::string>& traces);

// Results keep the sentences alone. These read them, and nothing else does.
// Whether the rank is the worker's.
bool IsOfWorker(std::string_view sentence, std::string_view worker);
// Whether it is about a whole worker, whose ranks are not known.
bool IsAboutWholeWorker(std::string_view sentence, std::string_view worker);
// Whether it names a defect of the trace. The run folder may have moved since.
bool NamesDefect(std::string_view sentence, const std::string& trace, NoteId defect);

}  // namespace tacho

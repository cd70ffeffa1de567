#include "model/begin_end.h"

#include <algorithm>

namespace tacho {

void BeginEndPairs::Begin(const Event& event, ArgsRef args) {
  std::vector<Slice>& open = open_[Index(event.track)];
  open.push_back({event, args});
  open.back().event.arg_values = {};  // they do not outlive the call
}

std::optional<BeginEndPairs::Slice> BeginEndPairs::End(const Event& event, Notes& notes) {
  std::vector<Slice>& open = open_[Index(event.track)];
  if (open.empty()) {
    notes.Add(NoteId::kUnmatchedBeginEnd, "an end without begin");
    return std::nullopt;
  }
  Slice slice = open.back();
  open.pop_back();
  if (!slice.event.has_start || !event.has_start) return std::nullopt;  // noted by the reader
  if (event.start < slice.event.start) {
    notes.Add(NoteId::kNegativeDuration, "an end before its begin");
  }
  slice.event.duration = std::max(event.start - slice.event.start, DurationNs{0});
  slice.event.type = EventType::kSlice;
  return slice;
}

void BeginEndPairs::Finish(Notes& notes) const {
  for (const auto& [track, open] : open_) {
    notes.Add(NoteId::kUnmatchedBeginEnd, "a begin without end", open.size());
  }
}

}  // namespace tacho

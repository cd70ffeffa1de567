#include "model/begin_end.h"

#include <algorithm>

namespace tacho {
namespace {

DurationNs Between(TimeNs begin, TimeNs end, Notes& notes) {
  if (end < begin) notes.Add(NoteId::kNegativeDuration, "an end before its begin");
  return std::max(end - begin, DurationNs{0});
}

}  // namespace

void BeginEndPairs::Begin(const Event& event, ArgsRef args) {
  std::vector<Slice>& open = open_[Index(event.track)];
  open.push_back({event, args});
  open.back().event.arg_values = {};  // the caller's values are not valid after this call
}

std::optional<BeginEndPairs::Slice> BeginEndPairs::End(const Event& event, Notes& notes) {
  std::vector<Slice>& open = open_[Index(event.track)];
  if (open.empty()) {
    notes.Add(NoteId::kUnmatchedBeginEnd, "an end without begin");
    return std::nullopt;
  }
  Slice slice = open.back();
  open.pop_back();
  if (!slice.event.has_start || !event.has_start) return std::nullopt;  // the reader adds a note
  slice.event.duration = Between(slice.event.start, event.start, notes);
  slice.event.type = EventType::kSlice;
  return slice;
}

void BeginEndPairs::Finish(Notes& notes) const {
  for (const auto& [track, open] : open_) {
    notes.Add(NoteId::kUnmatchedBeginEnd, "a begin without end", open.size());
  }
}

void RangePairs::Begin(const Event& event, ProcessId process, uint32_t row) {
  OfKey& of_key = open_[KeyOf(event, process)];
  of_key.by_name[event.name].push_back(of_key.begun);
  of_key.open[of_key.begun++] = {event.name,
                                 event.has_start ? std::optional(event.start) : std::nullopt, row};
}

std::optional<RangePairs::Open> RangePairs::TakeBegin(const Event& event, ProcessId process) {
  const auto at = open_.find(KeyOf(event, process));
  if (at == open_.end()) return std::nullopt;
  OfKey& of_key = at->second;
  // An end without a name takes the last begin of all, which is also the last one of its name.
  const StringId name =
      event.name == StringId::kEmpty ? of_key.open.rbegin()->second.name : event.name;
  const auto of_name = of_key.by_name.find(name);
  if (of_name == of_key.by_name.end()) return std::nullopt;
  const auto taken = of_key.open.extract(of_name->second.back());
  of_name->second.pop_back();
  if (of_name->second.empty()) of_key.by_name.erase(of_name);
  if (of_key.open.empty()) open_.erase(at);
  return taken.mapped();
}

std::optional<RangePairs::Ended> RangePairs::End(const Event& event, ProcessId process,
                                                 Notes& notes) {
  const std::optional<Open> begin = TakeBegin(event, process);
  if (!begin) {
    notes.Add(NoteId::kUnmatchedBeginEnd, "the end of a range without its begin");
    return std::nullopt;
  }
  if (!begin->start || !event.has_start) return std::nullopt;  // the reader adds a note
  return Ended{begin->row, Between(*begin->start, event.start, notes)};
}

void RangePairs::Finish(Notes& notes) const {
  for (const auto& [key, of_key] : open_) {
    notes.Add(NoteId::kUnfinishedSpan, "a range without end", of_key.open.size());
  }
}

}  // namespace tacho

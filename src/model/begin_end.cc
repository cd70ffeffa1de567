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
  open_[KeyOf(event, process)].push_back(
      {event.name, event.has_start ? std::optional(event.start) : std::nullopt, row});
}

std::optional<RangePairs::Ended> RangePairs::End(const Event& event, ProcessId process,
                                                 Notes& notes) {
  const auto list = open_.find(KeyOf(event, process));
  std::optional<Open> begin;
  if (list != open_.end()) {
    std::vector<Open>& open = list->second;
    const auto last = std::find_if(open.rbegin(), open.rend(), [&](const Open& one) {
      return event.name == StringId::kEmpty || one.name == event.name;
    });
    if (last != open.rend()) {
      begin = *last;
      open.erase(std::next(last).base());
      if (open.empty()) open_.erase(list);
    }
  }
  if (!begin) {
    notes.Add(NoteId::kUnmatchedBeginEnd, "the end of a range without its begin");
    return std::nullopt;
  }
  if (!begin->start || !event.has_start) return std::nullopt;  // noted by the reader
  return Ended{begin->row, Between(*begin->start, event.start, notes)};
}

void RangePairs::Finish(Notes& notes) const {
  for (const auto& [key, open] : open_) {
    notes.Add(NoteId::kUnfinishedSpan, "a range without end", open.size());
  }
}

}  // namespace tacho

#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// What is known about the work that similar calls launched.
struct WorkAlike {
  static constexpr size_t kMostStreams = 64;
  // The streams on which the work ran; perhaps not all of them if there are kMostStreams.
  std::vector<StreamId> streams;
  DurationNs longest_turn;  // turns.h
  size_t kernels = 0;

  void Add(StreamId stream) {
    if (streams.size() < kMostStreams && std::ranges::find(streams, stream) == streams.end())
      streams.push_back(stream);
  }
  // A limit on the turn (turns.h) of missing similar work: twice the longest turn. Valid if nothing
  // was seen to wait for that work. nullopt if fewer than ten kernels are known.
  [[nodiscard]] std::optional<DurationNs> Turn() const {
    constexpr size_t kFewest = 10;
    if (kernels < kFewest) return std::nullopt;
    return longest_turn + longest_turn;
  }
};

// What is known about the launched work of a stream.
struct StreamTurns {
  TimeNs called, over;  // the latest start of a launch call, the latest end of work
  size_t pieces = 0;
  DurationNs wait, piece;  // the longest wait of a turn, the longest piece
};

// What a call without a GPU row should have launched, judged by the work of similar calls. Calls
// are similar if they have the same name and, if `by_operator`, lie in operators of the same name.
// Cost: O(n) for GPU work; if `by_operator`, also for calls and operators.
class WorkByLikeness {
 public:
  WorkByLikeness(const TrackIndex& index, const LaunchLinks& links, bool by_operator);
  // Null if no similar call launched work, or if the work of similar calls ran on kMostStreams
  // streams.
  [[nodiscard]] const WorkAlike* Of(uint32_t call) const;
  // As Of, but instead of null returns the streams of all work of the trace, without a turn.
  [[nodiscard]] const WorkAlike& OfOrAll(uint32_t call) const {
    const WorkAlike* const alike = Of(call);
    return alike != nullptr ? *alike : all_;
  }
  [[nodiscard]] const StreamTurns& OfStream(StreamId stream) const {
    return streams_[Index(stream)];
  }
  [[nodiscard]] bool IsInOperator(uint32_t call) const {
    return !operators_.empty() && operators_[call] != StringId::kEmpty;
  }
  // The longest wait plus the longest piece of the stream, or of all streams if this one has fewer
  // than 10 pieces.
  [[nodiscard]] DurationNs LongestTurnOf(StreamId stream) const;

 private:
  using Likeness = std::pair<StringId, StringId>;
  [[nodiscard]] Likeness LikenessOf(uint32_t call) const {
    return {operators_.empty() ? StringId::kEmpty : operators_[call], trace_.host_calls.name[call]};
  }

  const Trace& trace_;
  std::vector<StringId> operators_;  // by call: the operator around it; empty unless `by_operator`
  WorkAlike all_;
  std::vector<StreamTurns> streams_;  // by stream; the last entry is for all streams together
  std::map<Likeness, WorkAlike> alike_;
};

}  // namespace tacho

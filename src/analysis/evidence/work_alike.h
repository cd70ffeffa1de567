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

// What is known of the work that similar calls launched.
struct WorkAlike {
  static constexpr size_t kMostStreams = 64;
  std::vector<StreamId> streams;  // that the work ran on; if kMostStreams, perhaps on others too
  DurationNs longest_turn;        // turns.h
  size_t kernels = 0;

  void Add(StreamId stream) {
    if (streams.size() < kMostStreams && std::ranges::find(streams, stream) == streams.end())
      streams.push_back(stream);
  }
  // How long the turn of similar work may have taken if nothing waited for it. Unknown for copies,
  // whose sizes differ, and for collectives, which wait for other ranks.
  [[nodiscard]] std::optional<DurationNs> Turn() const {
    constexpr size_t kFewest = 10;
    if (kernels < kFewest) return std::nullopt;
    return longest_turn + longest_turn;
  }
};

// What is known of the launched work of a stream.
struct StreamTurns {
  TimeNs called, over;  // latest start of a launch call, latest end of work
  size_t pieces = 0;
  DurationNs wait, piece;  // the longest wait of a turn, the longest piece
};

// What a call without a row should have launched, judged by the work of similar calls: of the same
// name and, if `by_operator`, in operators of the same name. Cost: O(n) over GPU work; by operator
// over calls and operators, too.
class WorkByLikeness {
 public:
  WorkByLikeness(const TrackIndex& index, const LaunchLinks& links, bool by_operator);
  // Null if no work is like it, or if such work ran on kMostStreams streams.
  [[nodiscard]] const WorkAlike* Of(uint32_t call) const;
  // As Of; where that is null, all work of the trace, without a turn.
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
  // The longest wait plus the longest piece of the stream; if it had fewer than 10 pieces, those of
  // all streams.
  [[nodiscard]] DurationNs LongestTurnOf(StreamId stream) const;

 private:
  using Likeness = std::pair<StringId, StringId>;
  [[nodiscard]] Likeness LikenessOf(uint32_t call) const {
    return {operators_.empty() ? StringId::kEmpty : operators_[call], trace_.host_calls.name[call]};
  }

  const Trace& trace_;
  std::vector<StringId> operators_;  // by call; empty: not looked at
  WorkAlike all_;
  std::vector<StreamTurns> streams_;  // by stream; the last one is of all work
  std::map<Likeness, WorkAlike> alike_;
};

}  // namespace tacho

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/matched_collectives.h"
#include "analysis/ranks/run_clock.h"
#include "view/viewed_rank.h"

namespace tacho {

enum class RankState : uint8_t { kWaiting, kReading, kRead, kFailed };
std::string_view RankStateName(RankState state);  // "waiting", "reading", "read", "failed"

// One trace of the run at some moment.
struct RankEntry {
  std::string path;
  std::string label;  // its distinguishing name: "w0 TP1 decode", else the name of its file
  RankState state = RankState::kWaiting;
  std::string why = {};                         // of kFailed
  std::shared_ptr<const ViewedRank> rank = {};  // of kRead
};

// How the times of the ranks relate to each other.
struct RunClock {
  // False: some rank's trace does not hold the Unix time, or was recorded kFarApart or more from
  // the first; its times begin at 0.
  bool shared = true;
};

// The ranks that were read, by rank. One that is not there yet, or failed, is null.
using ReadRanks = std::vector<std::shared_ptr<const ViewedRank>>;

// The traces of a view, also while they are being read: the numbers of the ranks are fixed, and a
// published rank does not change. All functions may be called by any thread at any time.
//
// The run's clock: 0 is the start of the first rank by number that has events. Every other rank is
// placed relative to it by Unix time, if both traces hold that. So that times do not depend on
// which trace is read first, ranks are published only once those with lower numbers decide what 0
// is. A rank that was recorded kFarApart or more from it, or without Unix time, begins at 0.
class ViewedRun {
 public:
  explicit ViewedRun(std::vector<std::string> paths);

  // Adds a further trace, of a file that holds several. Returns its number, the next after the
  // last.
  size_t Append(std::string path);
  // Marks the rank as being read.
  void Begin(size_t rank);
  // Add: the rank was read. Fail: it cannot be shown. Both return, in order, the ranks that this
  // call made kRead or kFailed. A rank that fails after it was read is no longer returned, but
  // lives as long as the run.
  std::vector<size_t> Add(std::unique_ptr<ViewedRank> read, size_t rank);
  std::vector<size_t> Fail(std::string why, size_t rank);

  [[nodiscard]] std::vector<RankEntry> entries() const;
  [[nodiscard]] ReadRanks ranks() const;
  [[nodiscard]] RunClock clock() const;

  // Call it when no further rank comes. Matches the collectives of the workers on the run's clock.
  // Cost: that of MatchCollectives.
  void Finish();
  // Null until Finish.
  [[nodiscard]] std::shared_ptr<const MatchedCollectives> collectives() const;

 private:
  struct Slot {
    std::string path;
    RankState state = RankState::kWaiting;
    std::string why = {};
    std::unique_ptr<ViewedRank> pending = {};  // read, but not published: 0 is not decided yet
    std::shared_ptr<const ViewedRank> rank = {};
    bool on_clock = true;  // placed by the run's clock

    // What others may see of it.
    [[nodiscard]] std::shared_ptr<const ViewedRank> Read() const {
      return state == RankState::kRead ? rank : nullptr;
    }
  };
  std::vector<size_t> Publish();
  // Sets the rank's offset. False: the run's clock cannot place it.
  bool Place(uint32_t number, ViewedRank& rank);
  // Decides which rank begins at 0. False: not decided yet.
  bool FindFirst();

  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  const ViewedRank* first_rank_ = nullptr;  // the rank that begins at 0
  ClockMap clocks_;                         // of the ranks, by number, and of the run
  std::shared_ptr<const MatchedCollectives> collectives_;
};

// From the first start to the last end over all ranks; empty without any.
Interval SpanOf(const ReadRanks& ranks);

}  // namespace tacho

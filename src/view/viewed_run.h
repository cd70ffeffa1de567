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

// The state of one trace of the run, as it was when asked for.
struct RankEntry {
  std::string path;
  // Its name among the ranks, "w0 TP1 decode"; without one, the name of its file.
  std::string label;
  RankState state = RankState::kWaiting;
  std::string why = {};                         // set if kFailed
  std::shared_ptr<const ViewedRank> rank = {};  // set if kRead
};

// How the times of the ranks relate to each other.
struct RunClock {
  // False: a rank could not be placed on the run's clock, because its trace has no Unix time or was
  // recorded kFarApart or more from the first one. The times of such a rank begin at 0.
  bool shared = true;
};

// The ranks by number. A rank that has not been read yet, or failed, is null.
using ReadRanks = std::vector<std::shared_ptr<const ViewedRank>>;

// The traces of a view. It can be used while they are being read: the numbers of the ranks are
// fixed, and a published rank does not change. Any thread may call any function at any time.
//
// The run's clock: 0 is the start of the first rank (by number) that has events. Other ranks are
// placed relative to it by Unix time. A rank without Unix time, or recorded kFarApart or more from
// the first one, begins at 0. Ranks are published only when it is known which rank is the first, so
// that times do not depend on the order in which traces are read.
class ViewedRun {
 public:
  explicit ViewedRun(std::vector<std::string> paths);

  // Adds a further trace at the end, for a file that turns out to hold several. Returns its number.
  size_t Append(std::string path);
  // Marks the rank as being read.
  void Begin(size_t rank);
  // Add: the rank was read. Fail: the rank cannot be shown. Both return the numbers of the ranks
  // whose state became kRead or kFailed in this call, in order. A rank that fails after it was read
  // is no longer in ranks(), but lives as long as the run.
  std::vector<size_t> Add(std::unique_ptr<ViewedRank> read, size_t rank);
  std::vector<size_t> Fail(std::string why, size_t rank);

  [[nodiscard]] std::vector<RankEntry> entries() const;
  [[nodiscard]] ReadRanks ranks() const;
  [[nodiscard]] RunClock clock() const;

  // Call it when no further rank comes. Matches the collectives of the worker ranks that the run's
  // clock could place. Cost: that of MatchCollectives.
  void Finish();
  // Null until Finish.
  [[nodiscard]] std::shared_ptr<const MatchedCollectives> collectives() const;

 private:
  struct Slot {
    std::string path;
    RankState state = RankState::kWaiting;
    std::string why = {};
    // Read, but not published: the first rank is not known yet.
    std::unique_ptr<ViewedRank> pending = {};
    std::shared_ptr<const ViewedRank> rank = {};
    bool on_clock = true;  // the run's clock could place it

    // The rank, if it is published and has not failed; else null.
    [[nodiscard]] std::shared_ptr<const ViewedRank> Read() const {
      return state == RankState::kRead ? rank : nullptr;
    }
  };
  std::vector<size_t> Publish();
  // Sets the rank's offset. Returns false if the run's clock cannot place it.
  bool Place(uint32_t number, ViewedRank& rank);
  // Finds the rank that begins at 0. Returns false if that is not known yet.
  bool FindFirst();

  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  const ViewedRank* first_rank_ = nullptr;  // the rank that begins at 0
  ClockMap clocks_;  // between the clocks of the ranks (by number) and of the run
  std::shared_ptr<const MatchedCollectives> collectives_;
};

// From the first start to the last end over all ranks; empty if there are none.
Interval SpanOf(const ReadRanks& ranks);

}  // namespace tacho

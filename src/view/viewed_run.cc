#include "view/viewed_run.h"

#include <algorithm>
#include <utility>

#include "analysis/ranks/run_clock.h"

namespace tacho {
namespace {

RankInput TimesOf(const ViewedRank& rank) {
  RankInput input;
  input.path = rank.path();
  if (rank.trace().header.base_time_ns >= 0) input.base_time_ns = rank.trace().header.base_time_ns;
  input.span = rank.ToTrace(rank.span());
  return input;
}

std::string_view FileName(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// Labels the ranks. Leaves out a kind of group number (such as TP) that is 0 or unknown in all
// ranks, because it distinguishes nothing.
void Label(std::vector<RankEntry>& entries) {
  std::vector<RankIdentity> identities(entries.size());
  std::vector<RankIdentity*> known;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].rank) continue;
    identities[i] = entries[i].rank->facts().identity;
    if (entries[i].rank->facts().role == TraceRole::kWorker) known.push_back(&identities[i]);
  }
  LeaveOutSingles(known);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].label = identities[i].Name();
    if (entries[i].label.empty()) entries[i].label = FileName(entries[i].path);
  }
}

}  // namespace

std::string_view RankStateName(RankState state) {
  static constexpr std::string_view kNames[] = {"waiting", "reading", "read", "failed"};
  return kNames[static_cast<size_t>(state)];
}

ViewedRun::ViewedRun(std::vector<std::string> paths) {
  for (std::string& path : paths) slots_.push_back({std::move(path)});
}

size_t ViewedRun::Append(std::string path) {
  const std::lock_guard lock(mutex_);
  slots_.push_back({std::move(path)});
  return slots_.size() - 1;
}

void ViewedRun::Begin(size_t rank) {
  const std::lock_guard lock(mutex_);
  slots_[rank].state = RankState::kReading;
}

std::vector<size_t> ViewedRun::Add(std::unique_ptr<ViewedRank> read, size_t rank) {
  const std::lock_guard lock(mutex_);
  slots_[rank].pending = std::move(read);
  return Publish();
}

std::vector<size_t> ViewedRun::Fail(std::string why, size_t rank) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[rank];
  slot.state = RankState::kFailed;
  slot.why = std::move(why);
  if (slot.pending) slot.rank = std::move(slot.pending);
  std::vector<size_t> changed = Publish();
  changed.insert(std::ranges::lower_bound(changed, rank), rank);
  return changed;
}

bool ViewedRun::FindFirst() {
  for (const Slot& slot : slots_) {
    if (first_rank_ != nullptr) return true;
    if (slot.state == RankState::kFailed || slot.rank) continue;
    if (!slot.pending) return false;
    if (slot.pending->trace().span.empty()) continue;
    first_rank_ = slot.pending.get();
  }
  return true;
}

bool ViewedRun::Place(uint32_t number, ViewedRank& rank) {
  if (rank.trace().span.empty()) return true;
  const RankInput times = TimesOf(rank);
  const bool placed = &rank == first_rank_
                          ? PlaceOnRunClock(times, times, number, clocks_)
                          : PlaceOnRunClock(TimesOf(*first_rank_), times, number, clocks_);
  const auto to_run = clocks_.Between({ClockOf::kTrace, number}, {ClockOf::kRun});
  rank.offset_ = to_run ? to_run->shift : TimeNs{} - times.span.start;
  return placed;
}

std::vector<size_t> ViewedRun::Publish() {
  std::vector<size_t> published;
  if (!FindFirst()) return published;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.pending) continue;
    slot.on_clock = Place(i, *slot.pending);
    slot.rank = std::move(slot.pending);
    slot.state = RankState::kRead;
    published.push_back(i);
  }
  return published;
}

std::vector<RankEntry> ViewedRun::entries() const {
  std::vector<RankEntry> entries;
  {
    const std::lock_guard lock(mutex_);
    for (const Slot& slot : slots_) {
      entries.push_back({slot.path, "", slot.state, slot.why, slot.Read()});
    }
  }
  Label(entries);
  return entries;
}

ReadRanks ViewedRun::ranks() const {
  const std::lock_guard lock(mutex_);
  ReadRanks ranks;
  for (const Slot& slot : slots_) ranks.push_back(slot.Read());
  return ranks;
}

RunClock ViewedRun::clock() const {
  const std::lock_guard lock(mutex_);
  size_t with_events = 0, apart = 0;
  for (const Slot& slot : slots_) {
    if (slot.state != RankState::kRead || slot.rank->trace().span.empty()) continue;
    ++with_events;
    apart += slot.on_clock ? 0 : 1;
  }
  return {apart == 0 || with_events == 1};
}

void ViewedRun::Finish() {
  ReadRanks on_clock;
  {
    const std::lock_guard lock(mutex_);
    for (const Slot& slot : slots_) {
      auto rank = slot.on_clock ? slot.Read() : nullptr;
      // Leaves out files that are not one worker's: the ranks of a merged file, for example, are
      // already on one clock.
      if (rank && rank->facts().role != TraceRole::kWorker) rank = nullptr;
      on_clock.push_back(std::move(rank));
    }
  }
  std::vector<CommRank> ranks(on_clock.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!on_clock[i]) continue;
    const ViewedRank& rank = *on_clock[i];
    // Its times cannot be compared with other ranks' times.
    if (!rank.view().untold().device_time.empty()) continue;
    ranks[i] = {rank.facts().identity, rank.offset(), rank.communication()};
  }
  auto collectives = std::make_shared<const MatchedCollectives>(MatchCollectives(ranks));
  const std::lock_guard lock(mutex_);
  collectives_ = std::move(collectives);
}

std::shared_ptr<const MatchedCollectives> ViewedRun::collectives() const {
  const std::lock_guard lock(mutex_);
  return collectives_;
}

Interval SpanOf(const ReadRanks& ranks) {
  Interval span;
  for (const auto& rank : ranks) {
    if (!rank || rank->span().empty()) continue;
    const Interval of = rank->span();
    span = span.empty() ? of : Interval{std::min(span.start, of.start), std::max(span.end, of.end)};
  }
  return span;
}

}  // namespace tacho

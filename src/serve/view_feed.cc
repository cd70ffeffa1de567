#include "serve/view_feed.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"

namespace tacho {
namespace {

// Once this many bytes are read, the traces are taken to be readable. A file that is not JSON fails
// at once. JSON of another kind fails only at the end of the file, but few such files are larger
// than this. Reading this many bytes of a plain file takes 6 ms.
constexpr uint64_t kFirstLookBytes = 16'000'000;

}  // namespace

void ViewFeed::OnFound(const Discovery& found) {
  for (const TraceSource& source : found.traces) {
    info_.paths.push_back(source.Display());
    if (source.path != "-") files_.insert(source.path);
  }
  for (const Error& failure : found.failures) info_.paths.emplace_back(failure.Place());
  ranks_.resize(found.traces.size());
  threads_ = found.traces.size() < CoreCount() ? 2 : 1;
  const auto run = std::make_shared<ServedRun>(std::move(info_), classifier_);
  size_t rank = found.traces.size();
  for (const Error& failure : found.failures) run->Fail(rank++, failure.message);
  {
    const std::lock_guard lock(mutex_);
    run_ = run;
  }
  changed_.notify_all();
}

void ViewFeed::OnBytes(uint64_t stored_bytes) {
  const uint64_t before = run_->read_bytes();
  run_->AddBytes(stored_bytes);
  if (before >= kFirstLookBytes || run_->read_bytes() < kFirstLookBytes) return;
  const std::lock_guard lock(mutex_);  // held so that no waiter misses the notification
  changed_.notify_all();
}

void ViewFeed::OnTrace(size_t source, const std::string& path, std::unique_ptr<const Trace> trace,
                       const PreparedTrace& prepared, const std::optional<InFlight>& in_flight) {
  // Only one thread at a time reads a source. The ViewedRank is made before its number is assigned:
  // making it may run out of memory, and then no number is used up.
  auto read = std::make_unique<ViewedRank>(path, std::move(trace), prepared, classifier_, in_flight,
                                           threads_);
  ranks_[source].push_back(ranks_[source].empty() ? source : run_->Append(path));
  run_->Add(ranks_[source].back(), std::move(read));
}

void ViewFeed::OnEnd(size_t source, const Error* failure) {
  if (failure == nullptr) {
    if (ranks_[source].empty()) run_->Fail(source, "not one of the ranks that --rank asks for");
    return;
  }
  // A source that failed has no trace in the analysis, so all its ranks fail.
  if (ranks_[source].empty()) ranks_[source].push_back(source);
  for (const size_t rank : ranks_[source]) run_->Fail(rank, failure->message);
}

void ViewFeed::Finish(Result<Readout<RunAnalysis>> readout) {
  auto outcome = std::move(readout).map([](Readout<RunAnalysis>&& read) {
    const size_t blanked = read.Blanked();
    return Outcome{std::make_shared<const RunAnalysis>(std::move(read.run)),
                   std::move(read.failures), blanked};
  });
  if (run_ && outcome) {
    FailOthers(*outcome->run);
    run_->Finish(outcome->run);
  } else if (run_) {
    run_->Finish(outcome.error());
  }
  {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
  }
  changed_.notify_all();
}

void ViewFeed::FailOthers(const RunAnalysis& analysis) {
  const std::vector<RankEntry> entries = run_->view().entries();
  for (size_t rank = 0; rank < entries.size(); ++rank) {
    if (entries[rank].state != RankState::kRead) continue;
    const std::string& path = entries[rank].rank->path();
    if (std::ranges::find(analysis.traces, path, &TraceAnalysis::path) != analysis.traces.end())
      continue;
    const auto copy = std::ranges::find(analysis.copies, path, &RunAnalysis::Copy::path);
    run_->Fail(rank, copy != analysis.copies.end() ? copy->what
                                                   : "of another session: --session all shows it");
  }
}

bool ViewFeed::WaitForRun(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return run_ != nullptr || outcome_; });
}

bool ViewFeed::WaitForFirstLook(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time,
                    [this] { return outcome_ || run_->read_bytes() >= kFirstLookBytes; });
  return outcome_.has_value();
}

bool ViewFeed::WaitForEnd(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return outcome_.has_value(); });
}

}  // namespace tacho

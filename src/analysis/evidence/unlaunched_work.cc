#include "analysis/evidence/unlaunched_work.h"

#include <algorithm>
#include <map>

namespace tacho {
namespace {

constexpr TimeNs kNever{INT64_MAX};

struct Piece {
  StringId device{};
  TimeNs start;
};

// Pieces of GPU work that name a launch which is not in the trace.
std::vector<Piece> UnlaunchedWork(const Trace& trace, const LaunchLinks& links) {
  std::vector<Piece> pieces;
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    if (links.call_of_gpu[row] != LaunchLinks::kNone || trace.gpu.correlation[row] < 0) continue;
    pieces.push_back({trace.words[trace.gpu.stream[row]].device, trace.gpu.start[row]});
  }
  return pieces;
}

// Adds the steps that seem to have launched nothing, if work without a known launch began after the
// step's start and before the work of the next step of its thread.
void AddStepsWithoutLaunches(const std::vector<Piece>& pieces, const std::vector<StepWork>& works,
                             const std::vector<Step>& steps, std::vector<uint32_t>& found) {
  std::vector<TimeNs> begin_of_work(steps.size(), kNever), starts;
  for (const StepWork& work : works)
    begin_of_work[work.step] = std::min(begin_of_work[work.step], work.when.start);
  for (const Piece& piece : pieces) starts.push_back(piece.start);
  std::ranges::sort(starts);
  std::map<TrackId, TimeNs> next_work;
  for (auto step = static_cast<uint32_t>(steps.size()); step-- > 0;) {
    TimeNs& next = next_work.try_emplace(steps[step].track, kNever).first->second;
    if (begin_of_work[step] != kNever) {
      next = begin_of_work[step];
      continue;
    }
    const StepLabel& label = steps[step].label;
    if (label.context_requests == 0 && label.generation_requests == 0) continue;
    const auto piece = std::ranges::lower_bound(starts, steps[step].when.start);
    if (piece != starts.end() && *piece < next) found.push_back(step);
  }
}

}  // namespace

std::vector<uint32_t> StepsWithUnlaunchedWork(const TrackIndex& index, const LaunchLinks& links,
                                              const std::vector<Step>& steps) {
  const Trace& trace = index.trace();
  std::vector<uint32_t> found;
  if (steps.empty()) return found;
  const std::vector<Piece> pieces = UnlaunchedWork(trace, links);
  if (pieces.empty()) return found;
  std::vector<StepWork> works = FindStepWork(index, links, steps);
  const auto place = [](const StepWork& work) {
    return std::pair(Index(work.device), work.when.start);
  };
  std::ranges::sort(works, {}, place);
  for (const Piece& piece : pieces) {
    const auto next =
        std::ranges::upper_bound(works, std::pair(Index(piece.device), piece.start), {}, place);
    const bool has_before = next != works.begin() && std::prev(next)->device == piece.device;
    if (has_before) found.push_back(std::prev(next)->step);
    if (has_before && piece.start < std::prev(next)->when.end) continue;
    if (next != works.end() && next->device == piece.device &&
        steps[next->step].when.start <= piece.start)
      found.push_back(next->step);
  }
  AddStepsWithoutLaunches(pieces, works, steps, found);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace tacho

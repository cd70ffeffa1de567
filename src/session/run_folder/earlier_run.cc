#include "session/run_folder/earlier_run.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <vector>

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEarlierRuns = 16;
// The folder may hold anything, so there is a limit to the entries that are looked at.
constexpr size_t kMostNeighbours = 10'000;

struct Neighbour {
  fs::file_time_type ended;
  std::string folder;
};

// The runs in the same parent folder, the newest first.
std::vector<Neighbour> NeighboursOf(const fs::path& folder) {
  std::vector<Neighbour> found;
  std::error_code failed;
  fs::directory_iterator at(folder.parent_path(), failed);
  for (size_t seen = 0; !failed && at != fs::directory_iterator() && seen < kMostNeighbours;
       at.increment(failed), ++seen) {
    std::error_code absent;
    const fs::file_time_type ended = fs::last_write_time(at->path() / "run.json", absent);
    if (!absent && at->path().filename() != folder.filename())
      found.push_back({ended, at->path().string()});
  }
  std::ranges::sort(found, [](const Neighbour& a, const Neighbour& b) {
    return std::tie(a.ended, a.folder) > std::tie(b.ended, b.folder);
  });
  return found;
}

}  // namespace

std::string EarlierRun(const std::string& folder, const KeptRecording& own) {
  std::error_code failed;
  fs::path place = fs::absolute(folder, failed).lexically_normal();
  if (failed) return "";
  if (!place.has_filename()) place = place.parent_path();
  std::vector<Neighbour> neighbours = NeighboursOf(place);
  if (neighbours.size() > kMostEarlierRuns) neighbours.resize(kMostEarlierRuns);
  const auto load = KeptLoadOf(PlanFactsFor(place.string()));
  for (const Neighbour& each : neighbours) {
    const auto kept = KeptRecordingOf(RunJsonFor(each.folder));
    if (kept && kept->proven > 0 && kept->engines == own.engines && kept->models == own.models &&
        KeptLoadOf(PlanFactsFor(each.folder)) == load)
      return each.folder;
  }
  return "";
}

}  // namespace tacho

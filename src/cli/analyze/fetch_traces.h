#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "base/result.h"
#include "cli/options/parse.h"
#include "ray/fetch_from_nodes.h"

namespace tacho {

// The options of `tacho analyze --ray` that bring traces here.
struct FetchArguments {
  std::vector<std::string> ranks;  // numbers, or "all"; empty: nothing is fetched
  std::optional<std::string> folder;

  OptionGroup Rows();
  [[nodiscard]] Result<void> Check(bool has_ray) const;
};

// Which ranks are fetched.
struct RanksToFetch {
  bool all = false;
  std::vector<int64_t> ranks;  // sorted
};
// kUsage: neither numbers nor "all"; the message points to the help of `command`.
Result<RanksToFetch> RanksToFetchOf(const std::vector<std::string>& words,
                                    std::string_view command);

struct FilesOfRanks {
  std::vector<NodeFile> files;  // each once
  std::vector<Error> failures;  // kUsage: traces in archives, which are not fetched
};
// The path of a trace in the results of a cluster is "NODE:/PATH". kUsage: a path has another form.
Result<FilesOfRanks> FilesToFetch(const std::vector<TraceAnalysis>& traces,
                                  const RanksToFetch& ranks);

// "2 traces, 14.2 MB came, in FOLDER".
std::string FetchedText(const FetchedFiles& fetched, const std::string& folder);

// Brings traces here and says on standard error what came. Returns false if one did not come.
Result<bool> FetchTraces(const ClusterAccess& cluster, const FetchArguments& arguments,
                         const std::vector<TraceAnalysis>& traces, bool shows_progress);

}  // namespace tacho

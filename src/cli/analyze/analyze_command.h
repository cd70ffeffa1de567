#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/analyze/fetch_traces.h"
#include "cli/options/parse.h"
#include "cli/screen/reading.h"
#include "report/tables/whole_tables.h"

namespace tacho {

// The arguments of `tacho analyze`.
struct AnalyzeOptions : ReadingArguments {
  AnalyzeOptions() { command = "analyze"; }
  bool json = false, digests = false, markdown = false, summary = false;
  std::optional<std::string> csv_folder;
  std::optional<int64_t> top;
  std::array<bool, kWholeTables> whole{};  // by WholeTable
  std::optional<std::string> sort, filter;
  std::string color = "auto";
  bool wide = false;
  FetchArguments fetch;
  // Flags that tools/analyze_profile.py of vime and slime has.
  std::optional<std::string> profile_dir;
  bool all_ranks = false;

  [[nodiscard]] bool Wants(WholeTable table) const { return whole[static_cast<size_t>(table)]; }
  // The tables that were asked for.
  [[nodiscard]] std::vector<WholeTable> Tables() const;
};

// The rows of the options, bound to `options`.
CommandSpec AnalyzeSpec(AnalyzeOptions& options);

// Fails with kUsage for contradictions and impossible values.
Result<void> CheckAnalyzeOptions(const AnalyzeOptions& options);

Result<int> RunAnalyze(const std::vector<std::string>& arguments);
std::vector<CommandSpec> AnalyzeSpecs();

}  // namespace tacho

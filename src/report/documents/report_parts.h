#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"
#include "report/device_totals.h"
#include "text/document.h"
#include "text/table_pick.h"

namespace tacho {

// What the reports share.

// The rows shown of those long tables that --top does not govern.
inline constexpr size_t kTopGaps = 5, kTopCalls = 5, kTopOperators = 5;

// What the command line knows beyond the results.
struct ScreenOptions {
  TextStyle style;
  size_t top = 10;                       // the rows shown of long tables
  size_t gaps = kTopGaps;                // how many of the longest gaps
  std::optional<size_t> table_top = {};  // rows of a table that is shown alone; absent: all
  TablePick pick = {};                   // which rows of such a table, and in which order
  std::string command_paths;             // the paths as shell words, for the commands under "next:"
  std::string view_paths = {};           // the same for `tacho view` and `tacho report`; "": none
  std::string compare_paths = {};        // the same for a comparison, if there are two; else ""
  // Whether a trace's path names a file that a command can open; false for a member of an archive.
  // Empty: false for every trace.
  std::function<bool(const std::string&)> is_file = {};
};

// "first to last work".
std::string WindowMeaning(const TraceAnalysis& trace);
std::string WindowMeaning(const RunAnalysis& run);

// Whether `trace` covers only a window or a device: its gaps and steps are then numbered
// differently from those of the whole trace.
bool IsPart(const TraceAnalysis& trace);
void AddVerdict(Document& document, std::string verdict, std::string caveat);

// Where device time goes and idle time by cause, "compute 11.0 % + ... + idle 86.3 % = window of
// 84.5 ms (first to last work)", and what the causes mean. `meaning`: what the window is.
void AddWhereTimeGoes(Document& document, const IdleTable& idle, const DeviceTotals& totals,
                      std::string_view meaning);
// One line for each cause that `idle` has.
void AddIdleLegend(Document& document, const IdleTable& idle);

// The kernels with the most time.
void AddTopKernels(Document& document, const KernelTable& kernels, const DeviceTotals& totals,
                   const ScreenOptions& options);
void AddCopies(Document& document, const CopyTable& copies, const ScreenOptions& options);

// Whether a device's peak is drawn and broken down: false if it is small beside another device's.
bool IsWorthShowing(const DeviceMemory& device, const MemoryTable& memory);
// Levels and peaks of each device, and what the peaks are made of. Nothing where memory was not
// recorded.
void AddMemory(Document& document, const MemoryTable& memory, TimeNs origin);
// Remarks on what the memory figures mean and lack.
void AddMemoryRemarks(Document& document, const MemoryTable& memory);
// The memory of the devices of all ranks in one table.
void AddMemoryOfRanks(Document& document, const RunAnalysis& run, size_t rows);

// Proposes to explain the first finding: the one with the largest share.
void AddFindingCommand(NextCommand& next, const std::vector<RunFinding>& findings,
                       const ScreenOptions& options);

// The ranks side by side.
void AddRanks(Document& document, const RunAnalysis& run, const TextStyle& style);

// Proposes `tacho view`, at the longest idle gap if there is one, and `tacho report`. Traces that
// were read back from results have no timeline.
void AddPages(NextCommand& next, std::span<const TraceAnalysis> traces,
              const ScreenOptions& options);

// The remark for `note`, one of `notes`. `places` says where in a run ("in 3 of 8 traces"), "" for
// one trace.
Remark NoteRemark(const Note& note, const Notes& notes, std::string_view places = "");
// What the profilers of the traces logged: one paragraph per distinct line. Lines that say that
// events are missing come first. At most a few, as visible text.
Document ProducerLines(const std::vector<const TraceHeader*>& headers);

// A paragraph for each trace that is not among RanksOf(run) and each file that is no trace.
Document OtherFiles(const RunAnalysis& run);
// Only the files that were not read: those of RunAnalysis::skipped and ::captures.
Document LeftOutFiles(const std::vector<std::string>& skipped, std::vector<std::string> captures);
// "3 traces of a graph capture are left out: A, B, C": one sentence for all, because an engine may
// write a file for each size that it captures. `paths` must not be empty.
std::string CapturesText(const std::vector<std::string>& paths);

// `idle` without the gaps of 1 us and less, which are too short to look at one by one.
IdleTable LongGaps(IdleTable idle);

// "99.8 % of GPU work linked to a launch", "61 overlaps kept" (work of one stream that ran at the
// same time), "98.0 % of kernel time classified".
void AddTrustParts(std::vector<std::string>& parts, uint64_t linked, uint64_t gpu_events, bool lost,
                   const DeviceTotals& totals, const KernelTable& kernels);

// "201 decode steps", "3 steps of unknown phase".
std::string StepsInWords(uint64_t count, std::string_view phase);

// "1.23 kB (56.8 kB of JSON)".
std::string SizeText(uint64_t bytes, uint64_t json_bytes);

// "vLLM 0.32.0"; "" where the trace does not say.
std::string EngineText(const TraceFacts& facts);

}  // namespace tacho

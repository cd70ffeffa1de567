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

// Parts that several reports use.

// How many rows are shown of the long tables that --top does not limit.
inline constexpr size_t kTopGaps = 5, kTopCalls = 5, kTopOperators = 5;

// What the reports take from the command line, besides the results.
struct ScreenOptions {
  TextStyle style;
  size_t top = 10;         // how many rows of long tables are shown
  size_t gaps = kTopGaps;  // how many of the longest gaps are shown
  // How many rows are shown of a table that was asked for alone; absent: all.
  std::optional<size_t> table_top = {};
  TablePick pick = {};        // which rows of such a table are shown, and in which order
  std::string command_paths;  // the paths as shell words, for the commands under "next:"
  // The paths for `tacho view` and `tacho report`; "": these are not proposed.
  std::string view_paths = {};
  std::string compare_paths = {};  // the paths for `tacho compare`, if there are two; else ""
  // Whether a trace's path names a file that a command can open; false for a member of an archive.
  // Empty: false for every trace.
  std::function<bool(const std::string&)> is_file = {};
};

// How the window of the figures is defined: "first to last work".
std::string WindowMeaning(const TraceAnalysis& trace);
std::string WindowMeaning(const RunAnalysis& run);

// Whether the user chose only a window or a device of the trace: the numbers of its gaps and steps
// are then not those of the whole trace.
bool IsPart(const TraceAnalysis& trace);
void AddVerdict(Document& document, std::string verdict, std::string caveat);

// Adds where device time goes, "compute 11.0 % + ... + idle 86.3 % = window of 84.5 ms (first to
// last work)", idle time by cause, and what the causes mean. `meaning`: as WindowMeaning says it.
void AddWhereTimeGoes(Document& document, const IdleTable& idle, const DeviceTotals& totals,
                      std::string_view meaning);
// Adds a line for each cause in `idle`, with its meaning.
void AddIdleLegend(Document& document, const IdleTable& idle);

// Adds the table of kernels with the most time.
void AddTopKernels(Document& document, const KernelTable& kernels, const DeviceTotals& totals,
                   const ScreenOptions& options);
void AddCopies(Document& document, const CopyTable& copies, const ScreenOptions& options);

// Whether the report draws the device's memory and splits its peak by operator. False if the peak
// is small beside that of another device.
bool IsWorthShowing(const DeviceMemory& device, const MemoryTable& memory);
// Adds the memory levels and peaks of each device, and what the peaks consist of. Adds nothing if
// memory was not recorded.
void AddMemory(Document& document, const MemoryTable& memory, TimeNs origin);
// Adds remarks on what the memory figures mean, and what is missing in them.
void AddMemoryRemarks(Document& document, const MemoryTable& memory);
// Adds one table with the memory of the devices of all ranks.
void AddMemoryOfRanks(Document& document, const RunAnalysis& run, size_t rows);

// Proposes to explain the first finding: the one with the largest share.
void AddFindingCommand(NextCommand& next, const std::vector<RunFinding>& findings,
                       const ScreenOptions& options);

// Adds the table of all ranks, and whom they waited for.
void AddRanks(Document& document, const RunAnalysis& run, const TextStyle& style);

// Proposes `tacho view`, at the longest idle gap if there is one, and `tacho report`. Traces that
// were read back from results have no timeline: for these it proposes only the report.
void AddPages(NextCommand& next, std::span<const TraceAnalysis> traces,
              const ScreenOptions& options);

// The remark for `note`, which is one of `notes`. `places`: in how many traces of a run it is ("in
// 3 of 8 traces"); "" for one trace.
Remark NoteRemark(const Note& note, const Notes& notes, std::string_view places = "");
// What the profilers of the traces logged: a paragraph for each distinct line, at most a few, as
// visible text. Lines that say that events are missing come first.
Document ProducerLines(const std::vector<const TraceHeader*>& headers);

// A paragraph for each trace that is not among RanksOf(run) and each file that is no trace.
Document OtherFiles(const RunAnalysis& run);
// Only the files that were left out, given as in RunAnalysis::skipped and RunAnalysis::captures.
Document LeftOutFiles(const std::vector<std::string>& skipped, std::vector<std::string> captures);
// "3 traces of a graph capture are left out: A, B, C": one sentence for all, because an engine may
// write a file for each size that it captures. `paths` must not be empty.
std::string CapturesText(const std::vector<std::string>& paths);

// `idle` without the gaps of 1 us and less, which are too short to look at one by one.
IdleTable LongGaps(IdleTable idle);

// Adds to the line "trust": "99.8 % of GPU work linked to a launch", "61 overlaps kept" (pieces of
// work of one stream that ran at the same time), "98.0 % of kernel time classified".
void AddTrustParts(std::vector<std::string>& parts, uint64_t linked, uint64_t gpu_events, bool lost,
                   const DeviceTotals& totals, const KernelTable& kernels);

// A number of steps and their phase: "201 decode steps", "3 steps of unknown phase".
std::string StepsInWords(uint64_t count, std::string_view phase);

// The size of a file, and of the JSON in it: "1.23 kB (56.8 kB of JSON)".
std::string SizeText(uint64_t bytes, uint64_t json_bytes);

// The engine and its version: "vLLM 0.32.0"; "" if the trace names no engine.
std::string EngineText(const TraceFacts& facts);

}  // namespace tacho

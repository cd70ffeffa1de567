#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "report/device_totals.h"
#include "text/table.h"
#include "text/table_pick.h"

namespace tacho {

// What the screens for one trace and for many share. Each function gives whole lines, or "".

// Of the tables with a tail that --top does not govern.
inline constexpr size_t kTopGaps = 5, kTopCalls = 5;

// What the command line knows beyond the results.
struct ScreenOptions {
  TextStyle style;
  size_t top = 10;                       // rows of the tables that have a tail
  std::optional<size_t> table_top = {};  // rows of a table that is shown alone; absent: all
  TablePick pick = {};                   // which rows of such a table, and in which order
  std::string command_paths;             // the paths as shell words, for the commands under "next:"
  // Whether a trace's path is that of a file, which a command can name (a member of an archive has
  // none). Empty: none is.
  std::function<bool(const std::string&)> is_file = {};
};

// A blank line and the table, folded to `keep` rows; "" when it has no row.
std::string Section(Table table, size_t keep, const TextStyle& style);

// Two tables beside each other where the line is wide enough, else one below the other.
std::string SideBySide(const Table& left, const Table& right, const TextStyle& style);

// "compute 11.0 % + exposed communication 1.2 % + ... + idle 86.3 % = window of 84.5 ms (first
// to last work)". `meaning`: what the window is, WindowMeaning.
std::string CompositionText(const DeviceTotals& totals, std::string_view meaning);
// "first to last work".
std::string WindowMeaning(const TraceAnalysis& trace);
std::string WindowMeaning(const RunAnalysis& run);

// "WHERE DEVICE TIME GOES" with "IDLE BY CAUSE", the line that adds up, and what the causes mean.
std::string WhereTimeGoes(const IdleTable& idle, const DeviceTotals& totals,
                          std::string_view window_meaning, const TextStyle& style);
// One line for each cause that `idle` has.
std::string IdleLegend(const IdleTable& idle, const TextStyle& style);

// `idle` without the gaps of 1 us and less, which are too short to look at one by one.
IdleTable LongGaps(IdleTable idle);
// How many these are, one line; "" without any.
std::string ShortGapsText(const std::vector<DeviceTime>& devices);

// "99.8 % of GPU work linked to a launch".
std::string LinkedText(uint64_t linked, uint64_t gpu_events);

// "61 overlaps kept": work of one stream that ran at the same time; "" without any.
std::string OverlapsText(const DeviceTotals& totals);
// "TOP KERNELS", of a CPU engine "TOP LEAF OPERATORS".
std::string TopWorkTitle(const DeviceTotals& totals);

// "vLLM 0.32.0"; "" when not told.
std::string EngineText(const TraceFacts& facts);

// "VERDICT" and, where there is one, "caveat".
std::string VerdictLines(std::string_view verdict, std::string_view caveat, const TextStyle& style);

// A verdict that is said once more: whole where two lines hold it, else `brief`.
std::string_view WholeOrBrief(std::string_view verdict, std::string_view brief,
                              const TextStyle& style);

// The verdict once more under a screen that is longer than a terminal; "" under a shorter one.
std::string VerdictAgain(std::string_view screen, std::string_view verdict, std::string_view brief,
                         const TextStyle& style);

// "  LABEL text" wrapped, with the further lines indented under the text.
std::string Labelled(std::string_view label, std::string_view text, Paint paint,
                     const TextStyle& style);

// Lines with labels, together at most `most` of them: of the texts that are too long for that, the
// longest first, the end is left out ("…"), but each has a line of its own.
struct LabelledText {
  std::string label, text;
  Paint paint = Paint::kPlain;
  bool to_copy = false;  // on one line, however long it is
};
std::string LabelledWithin(const std::vector<LabelledText>& texts, size_t most,
                           const TextStyle& style);

// The same for parts that stay whole where they fit, with style.dot() between them.
std::string LabelledParts(std::string_view label, const std::vector<std::string>& parts,
                          Paint paint, const TextStyle& style);

// One note for people; `places` says where in a run ("in 3 of 8 traces"), "" for one trace.
std::string NoteLines(const Note& note, std::string_view places, const TextStyle& style);

// "next:" with the command, and below it options that show more.
struct NextOption {
  std::string option;
  std::string shows;
};
std::string NextOptions(std::string_view command, const std::vector<NextOption>& more,
                        const TextStyle& style);

}  // namespace tacho

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "report/device_totals.h"
#include "report/table.h"

namespace tacho {

// What the screens for one trace and for many share. Each function gives whole lines, or "".

// What the command line knows beyond the results.
struct ScreenOptions {
  TextStyle style;
  size_t top = 10;            // rows of the tables that have a tail
  std::string command_paths;  // the paths as shell words, for the commands under "next:"
};

// A blank line and the table, folded to `keep` rows; "" when it has no row.
std::string Section(Table table, size_t keep, const TextStyle& style);

// Two tables beside each other where the line is wide enough, else one below the other.
std::string SideBySide(const Table& left, const Table& right, const TextStyle& style);

// "compute 11.0 % + exposed communication 1.2 % + ... + idle 86.3 % = 100 % of 84.5 ms".
std::string CompositionLine(const DeviceTotals& totals, const TextStyle& style);

// "WHERE DEVICE TIME GOES" with "IDLE BY CAUSE", and the line that adds up.
std::string WhereTimeGoes(const IdleTable& idle, const DeviceTotals& totals,
                          const ScreenOptions& options);

// "99.8 % of GPU work linked to a launch".
std::string LinkedText(uint64_t linked, uint64_t gpu_events);

// "61 overlaps kept": work of one stream that ran at the same time.
std::string OverlapsText(const DeviceTotals& totals);

// "vLLM 0.32.0"; "" when not told.
std::string EngineText(const TraceFacts& facts);

// "  LABEL text" wrapped, with the further lines indented under the text.
std::string Labelled(std::string_view label, std::string_view text, Paint paint,
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

#include "report/screen_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "report/result_tables.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kBetweenTables = 2;
constexpr size_t kMostCategories = 12;
constexpr size_t kTextColumn = 10;  // where the text behind a label begins
constexpr DurationNs kShortGap{1'000};

size_t WidestLine(const std::vector<TextLine>& lines) {
  size_t width = 0;
  for (const TextLine& line : lines) width = std::max(width, line.width);
  return width;
}

std::string_view MeaningOf(IdleCause cause, Requests requests) {
  switch (cause) {
    case IdleCause::kHostLate:
      return "the host had not yet launched the next work";
    case IdleCause::kInLaunchCall:
      return "the call that launches the next work was still running";
    case IdleCause::kLaunchLatency:
      return "launched, but not yet on the device (up to 1 ms)";
    case IdleCause::kWaiting:
      return "launched, but held back by an event or another queue";
    case IdleCause::kQueued:
      return "launched before the device became idle, but started late";
    case IdleCause::kInGraph:
      return "between the pieces of one graph launch";
    case IdleCause::kHost:
      return "the executing thread was in no operator";
    case IdleCause::kInOperator:
      return "the executing thread was in an operator's own code, not in a nested operator";
    case IdleCause::kBetweenSteps:
      return requests == Requests::kKnown
                 ? "requests were in flight, but no engine step ran"
                 : "no engine step ran: there was no work, or the engine was scheduling";
    case IdleCause::kNoRequest:
      return "no request of tacho's load was in flight";
    case IdleCause::kUnknown:
      return "the launch of the next work is not in the trace";
    case IdleCause::kCount:
      break;
  }
  return "";
}

}  // namespace

std::string Section(Table table, size_t keep, const TextStyle& style) {
  if (table.rows.empty()) return "";
  FoldRows(table, keep);
  return "\n" + RenderText(table, style);
}

std::string SideBySide(const Table& left, const Table& right, const TextStyle& style) {
  const std::vector<TextLine> left_lines = RenderLines(left, style);
  const std::vector<TextLine> right_lines = RenderLines(right, style);
  const size_t column = WidestLine(left_lines) + kBetweenTables;
  std::string out = "\n";
  if (right.rows.empty() || column + WidestLine(right_lines) > style.width) {
    for (const TextLine& line : left_lines) out += line.text + "\n";
    if (!right.rows.empty()) out += "\n";
    for (const TextLine& line : right_lines) {
      if (!right.rows.empty()) out += line.text + "\n";
    }
    return out;
  }
  for (size_t i = 0; i < std::max(left_lines.size(), right_lines.size()); ++i) {
    size_t used = 0;
    if (i < left_lines.size()) {
      out += left_lines[i].text;
      used = left_lines[i].width;
    }
    if (i < right_lines.size()) out += std::string(column - used, ' ') + right_lines[i].text;
    out += "\n";
  }
  return out;
}

std::string CompositionText(const DeviceTotals& totals, std::string_view meaning) {
  std::string parts;
  const auto add = [&](std::string_view what, DurationNs time) {
    if (time.ns == 0) return;
    parts +=
        fmt::format("{}{} {}", parts.empty() ? "" : " + ", what, FormatShare(time, totals.window));
  };
  add("compute", totals.compute);
  add("exposed communication", totals.exposed_comm);
  add("exposed copies", totals.exposed_copy);
  add("idle", totals.idle);
  return fmt::format("{} = window of {}{} ({})", parts, FormatDuration(totals.window),
                     totals.devices > 1 ? fmt::format(" over {} devices", totals.devices) : "",
                     meaning);
}

std::string WindowMeaning(const TraceAnalysis& trace) {
  if (trace.scope.window) return "as --window asks";
  return "first to last work";
}

std::string WindowMeaning(const RunAnalysis& run) {
  return !run.traces.empty() && run.traces[0].scope.window ? "as --window asks"
                                                           : "each from first to last work";
}

std::string IdleLegend(const IdleTable& idle, const TextStyle& style) {
  std::string out;
  for (const IdleCauseRow& row : idle.causes) {
    out += Painted(" " + Wrap(fmt::format("{} {}", PadRight(IdleCauseId(row.cause), 15),
                                          MeaningOf(row.cause, idle.requests)),
                              style.width - 1, 17, style.unicode),
                   Paint::kDim, style) +
           "\n";
  }
  return out;
}

std::string WhereTimeGoes(const IdleTable& idle, const DeviceTotals& totals,
                          std::string_view window_meaning, const TextStyle& style) {
  if (totals.window.ns == 0) return "";
  std::vector<DurationNs> descending;
  DurationNs kernels;
  for (const CategoryRow& row : totals.kernels) {
    descending.push_back(row.total);
    kernels += row.total;
  }
  const size_t keep = RowsWorthShowing(descending, kernels, 3, kMostCategories);
  const char* title = totals.on_host ? "WHERE THE TIME GOES" : "WHERE DEVICE TIME GOES";
  const std::string composition = " " + CompositionText(totals, window_meaning);
  return SideBySide(WindowTable(totals, keep, title), IdleCausesTable(idle), style) +
         Painted(Wrap(composition, style.width, 1, style.unicode), Paint::kDim, style) + "\n" +
         IdleLegend(idle, style);
}

IdleTable LongGaps(IdleTable idle) {
  std::erase_if(idle.gaps, [](const IdleGap& gap) { return gap.when.length() <= kShortGap; });
  return idle;
}

std::string ShortGapsText(const std::vector<DeviceTime>& devices) {
  uint64_t gaps = 0;
  for (const DeviceTime& device : devices) gaps += device.gaps.count - device.gaps.over_1us;
  return gaps == 0 ? "" : FormatCounted(gaps, "gap") + " of 1 us or less not listed";
}

std::string LinkedText(uint64_t linked, uint64_t gpu_events) {
  return fmt::format("{} % of GPU work linked to a launch",
                     FormatPercent(static_cast<double>(linked) / static_cast<double>(gpu_events)));
}

std::string OverlapsText(const DeviceTotals& totals) {
  return totals.overlaps == 0 ? "" : FormatCounted(totals.overlaps, "overlap") + " kept";
}

std::string TopWorkTitle(const DeviceTotals& totals) {
  std::string title = fmt::format("TOP {}", WorkWords(totals));
  for (char& letter : title) letter = letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter;
  return title;
}

std::string EngineText(const TraceFacts& facts) {
  if (facts.engine.empty()) return "";
  std::string name = facts.engine == "vllm"     ? "vLLM"
                     : facts.engine == "sglang" ? "SGLang"
                                                : VisibleText(facts.engine);
  if (!facts.engine_version.empty()) name += " " + VisibleText(facts.engine_version);
  return name;
}

std::string VerdictLines(std::string_view verdict, std::string_view caveat,
                         const TextStyle& style) {
  std::string out = "\n" + Labelled("VERDICT", verdict, Paint::kBold, style);
  if (!caveat.empty()) out += Labelled("caveat", caveat, Paint::kYellow, style);
  return out;
}

namespace {

std::vector<std::string> LinesOf(std::string_view text, const TextStyle& style) {
  std::vector<std::string> lines;
  std::istringstream wrapped(Wrap(text, style.width - kTextColumn, 0, style.unicode));
  for (std::string line; std::getline(wrapped, line);) lines.push_back(std::move(line));
  if (lines.empty()) lines.emplace_back();
  return lines;
}

std::string WithLabel(std::string_view label, const std::vector<std::string>& lines, Paint paint,
                      const TextStyle& style) {
  std::string out;
  for (const std::string& line : lines)
    out += fmt::format(
        " {} {}\n",
        Painted(PadRight(out.empty() ? label : "", kTextColumn - 2), Paint::kBold, style),
        Painted(line, paint, style));
  return out;
}

// Takes the last line away and says on the one before that something is left out, instead of its
// last words where there is no room.
void LeaveOutLastLine(std::vector<std::string>& lines, const TextStyle& style) {
  const std::string mark = style.unicode ? " …" : " ...";
  lines.pop_back();
  std::string& line = lines.back();
  if (line.ends_with(mark)) line.resize(line.size() - mark.size());
  while (DisplayWidth(line) + DisplayWidth(mark) > style.width - kTextColumn) {
    const size_t word = line.rfind(' ');
    if (word == std::string::npos) break;
    line.resize(word);
  }
  line += mark;
}

}  // namespace

std::string Labelled(std::string_view label, std::string_view text, Paint paint,
                     const TextStyle& style) {
  return WithLabel(label, LinesOf(text, style), paint, style);
}

std::string LabelledWithin(const std::vector<LabelledText>& texts, size_t most,
                           const TextStyle& style) {
  std::vector<std::vector<std::string>> all;
  size_t count = 0;
  for (const LabelledText& each : texts) {
    all.push_back(each.to_copy ? std::vector{each.text} : LinesOf(each.text, style));
    count += all.back().size();
  }
  for (; count > most; --count) {
    const auto longest = std::ranges::max_element(all, {}, &std::vector<std::string>::size);
    if (longest == all.end() || longest->size() < 2) break;
    LeaveOutLastLine(*longest, style);
  }
  std::string out;
  for (size_t i = 0; i < texts.size(); ++i)
    out += WithLabel(texts[i].label, all[i], texts[i].paint, style);
  return out;
}

std::string LabelledParts(std::string_view label, const std::vector<std::string>& parts,
                          Paint paint, const TextStyle& style) {
  const size_t width = style.width - kTextColumn;
  std::string out, line;
  const auto flush = [&] {
    out += Labelled(out.empty() ? label : "", line, paint, style);
    line.clear();
  };
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!line.empty() &&
        DisplayWidth(line) + DisplayWidth(style.dot()) + DisplayWidth(part) > width)
      flush();
    line += (line.empty() ? "" : std::string(style.dot())) + part;
  }
  flush();
  return out;
}

std::string VerdictAgain(std::string_view screen, std::string_view verdict, std::string_view brief,
                         const TextStyle& style) {
  constexpr std::ptrdiff_t kLinesOfTerminal = 40;
  if (std::ranges::count(screen, '\n') <= kLinesOfTerminal) return "";
  return "\n" + Labelled("VERDICT", WholeOrBrief(verdict, brief, style), Paint::kBold, style);
}

std::string_view WholeOrBrief(std::string_view verdict, std::string_view brief,
                              const TextStyle& style) {
  return LinesOf(verdict, style).size() <= 2 ? verdict : brief;
}

std::string NoteLines(const Note& note, std::string_view places, const TextStyle& style) {
  const NoteKind& kind = KindOf(note.id);
  std::string head = fmt::format("{} ({})", kind.id, FormatCount(static_cast<int64_t>(note.count)));
  std::string text = fmt::format(" {}: {}", head, kind.text);
  if (!places.empty()) text += fmt::format("; {}", places);
  if (!note.where.empty())
    text += fmt::format("; first at {}", VisibleText(note.where, style.unicode));
  if (kind.severity != Severity::kInfo) text += fmt::format("; {}", kind.remedy);
  return Painted(Wrap(text, style.width, 3, style.unicode),
                 kind.severity == Severity::kInfo ? Paint::kPlain : Paint::kYellow, style) +
         "\n";
}

std::string NextOptions(std::string_view command, const std::vector<NextOption>& more,
                        const TextStyle& style) {
  size_t width = 0;
  for (const NextOption& next : more) width = std::max(width, next.option.size());
  std::string out = fmt::format("\nnext:  {}\n", command);
  for (const NextOption& next : more) {
    out += fmt::format("         {}  {}\n", PadRight(next.option, width),
                       Painted(next.shows, Paint::kDim, style));
  }
  return out;
}

}  // namespace tacho

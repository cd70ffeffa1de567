#include "cli/options/choice_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "io/trace_sources.h"
#include "text/format_number.h"
#include "text/short_paths.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using Lacks = SeenTrace::Lacks;

// For each session, a name that `--session` accepts: its key, or a short path that no other session
// has.
std::vector<std::string> NamesOf(const SessionChoice& choice) {
  const std::vector<std::string> shorter = ShortPaths(choice.paths);
  std::vector<size_t> times_used(choice.paths.size(), 0);
  for (const std::vector<size_t>& session : choice.sessions) {
    for (const size_t trace : session) ++times_used[trace];
  }
  std::vector<std::string> names;
  for (const std::vector<size_t>& session : choice.sessions) {
    const auto only_here =
        std::ranges::find_if(session, [&](size_t trace) { return times_used[trace] == 1; });
    const size_t first = only_here == session.end() ? session.front() : *only_here;
    const std::string key = SessionKey(choice.paths[first]);
    names.push_back(VisibleText(key.empty() ? shorter[first] : key));
  }
  return names;
}

std::string Listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMost; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kMost ? text + fmt::format(" and {} more", names.size() - kMost) : text;
}

std::string NoSuchSession(const std::string& session, const SessionChoice& choice) {
  if (choice.sessions.size() == 1)
    return fmt::format("--session {}: the only session, {}, does not have it in a file's path",
                       VisibleText(session), Listed(NamesOf(choice)));
  return fmt::format("--session {}: {} of the {} has it in a file's path; they are: {}",
                     VisibleText(session), choice.matches.empty() ? "none" : "more than one",
                     FormatCounted(choice.sessions.size(), "session"), Listed(NamesOf(choice)));
}

// Says which other sessions were left out; "" if there are no others.
std::string OtherSessions(const SessionChoice& choice) {
  const auto others = static_cast<size_t>(std::ranges::count(choice.IsChosen(), false));
  if (others == 0) return "";
  std::vector<std::string> names = NamesOf(choice);
  const std::string name = names[*choice.chosen()];
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(*choice.chosen()));
  std::ranges::reverse(names);  // the newest first
  return fmt::format(
      "{} of {} ({}): left out, as they are not of {}; --session all has them too, --session with "
      "a part of a file's path one of them",
      FormatCounted(others, "trace"), FormatCounted(names.size(), "other session"), Listed(names),
      name);
}

std::string RanksThere(const std::vector<SeenTrace>& seen) {
  std::set<int64_t> ranks;
  for (const SeenTrace& trace : seen) {
    if (trace.rank) ranks.insert(*trace.rank);
  }
  if (!ranks.empty()) return fmt::format("; the ranks are: {}", fmt::join(ranks, ", "));
  // In a recording of nsys, processes may name no rank.
  const auto part = std::ranges::find_if(
      seen, [](const SeenTrace& trace) { return !SplitPart(trace.path).second.empty(); });
  return part == seen.end()
             ? ""
             : fmt::format("; name a process in place of its file: {}", VisibleText(part->path));
}

std::string DevicesThere(const std::vector<SeenTrace>& seen) {
  std::set<std::string> devices;
  for (const SeenTrace& trace : seen) devices.insert(trace.devices.begin(), trace.devices.end());
  return devices.empty()
             ? "none has GPU work: that of a CPU engine is device 'cpu'"
             : VisibleText(fmt::format("the devices are: {}", fmt::join(devices, ", ")));
}

// Why a trace does not have the requested window or device.
std::string WhyPassedOver(const SeenTrace& trace, const ReadOptions& options) {
  if (trace.lacks == Lacks::kWindow) {
    return fmt::format("{}: --window begins at {}, after the end of the trace at {}",
                       VisibleText(trace.path), FormatDuration(*options.window->begin),
                       FormatDuration(trace.span.length()));
  }
  return fmt::format(
      "{}: no device '{}' in it; devices: {}", VisibleText(trace.path), VisibleText(options.device),
      trace.devices.empty() ? "none"
                            : VisibleText(fmt::format("{}", fmt::join(trace.devices, ", "))));
}

// The error if no trace fits the choice.
Error WhyNothing(const TraceChoice& choice, const ReadOptions& options,
                 const Readout<RunAnalysis>& readout) {
  const std::vector<SeenTrace>& seen = readout.seen;
  if (readout.sessions && !readout.sessions->chosen())
    return {ErrorKind::kUsage, NoSuchSession(choice.session, *readout.sessions)};
  const auto lacks = [&](Lacks what) { return std::ranges::find(seen, what, &SeenTrace::lacks); };
  if (lacks(Lacks::kDevice) != seen.end())
    return {ErrorKind::kUsage, fmt::format("--device: no trace has a device '{}'; {}",
                                           VisibleText(options.device), DevicesThere(seen))};
  if (const auto trace = lacks(Lacks::kWindow); trace != seen.end()) {
    const auto others =
        static_cast<size_t>(std::ranges::count(seen, Lacks::kWindow, &SeenTrace::lacks) - 1);
    return {
        ErrorKind::kUsage,
        WhyPassedOver(*trace, options) +
            (others == 0 ? "" : fmt::format(" (as in {})", FormatCounted(others, "other trace")))};
  }
  if (!choice.ranks.empty())
    return {ErrorKind::kUsage, "--rank: " + NoSuchRank(choice.ranks) + RanksThere(seen)};
  return {ErrorKind::kUnreadable, "no worker's trace among the files"};
}

}  // namespace

std::string NoSuchRank(const std::vector<int64_t>& ranks) {
  return fmt::format("no trace says that it is rank {}", fmt::join(ranks, " or "));
}

Result<void> WordWhatIsLeftOut(const TraceChoice& choice, const ReadOptions& options,
                               Readout<RunAnalysis>& readout) {
  if (readout.run.traces.empty())
    return tl::unexpected<Error>(WhyNothing(choice, options, readout));
  std::vector<std::string>& skipped = readout.run.skipped;
  for (const SeenTrace& trace : readout.seen) {
    if (trace.lacks == Lacks::kWindow || trace.lacks == Lacks::kDevice)
      skipped.push_back(WhyPassedOver(trace, options));
  }
  std::ranges::sort(skipped);
  const std::string others = readout.sessions ? OtherSessions(*readout.sessions) : "";
  // The line about sessions comes before single files, because it says what the figures describe.
  if (!others.empty()) skipped.insert(skipped.begin(), others);
  return {};
}

}  // namespace tacho

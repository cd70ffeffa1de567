#include "cli/session_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/sessions.h"
#include "text/format_number.h"
#include "text/short_paths.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using Sessions = std::vector<std::vector<size_t>>;

// A session as `--session` takes it: its key, or a path that is short and in no other session.
std::vector<std::string> NamesOf(const Sessions& sessions, const RunAnalysis& run) {
  std::vector<std::string> paths;
  for (const TraceAnalysis& trace : run.traces) paths.push_back(trace.path);
  const std::vector<std::string> shorter = ShortPaths(paths);
  std::vector<size_t> times_used(paths.size(), 0);
  for (const std::vector<size_t>& session : sessions) {
    for (const size_t trace : session) ++times_used[trace];
  }
  std::vector<std::string> names;
  for (const std::vector<size_t>& session : sessions) {
    const auto own =
        std::ranges::find_if(session, [&](size_t trace) { return times_used[trace] == 1; });
    const size_t first = own == session.end() ? session.front() : *own;
    const std::string key = SessionKey(paths[first]);
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

Result<size_t> Choose(const std::string& session, const Sessions& sessions,
                      const RunAnalysis& run) {
  if (session == "latest") return sessions.size() - 1;
  std::vector<size_t> found;
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (std::ranges::any_of(sessions[i], [&](size_t trace) {
          return run.traces[trace].path.find(session) != std::string::npos;
        })) {
      found.push_back(i);
    }
  }
  if (found.size() == 1) return found.front();
  if (sessions.size() == 1)
    return Fail(ErrorKind::kUsage,
                fmt::format("--session {}: the only session, {}, does not have it in a file's path",
                            VisibleText(session), Listed(NamesOf(sessions, run))));
  return Fail(
      ErrorKind::kUsage,
      fmt::format("--session {}: {} of the {} has it in a file's path; they are: {}",
                  VisibleText(session), found.empty() ? "none" : "more than one",
                  FormatCounted(sessions.size(), "session"), Listed(NamesOf(sessions, run))));
}

}  // namespace

Result<void> KeepSession(const std::string& session, RunAnalysis& run) {
  const Sessions sessions = SessionsOf(RankInputsOf(run));
  const auto chosen = Choose(session, sessions, run);
  if (!chosen) return tl::unexpected<Error>(chosen.error());
  std::vector<bool> kept(run.traces.size(), false);
  for (const size_t i : sessions[*chosen]) kept[i] = true;
  const auto others = static_cast<size_t>(std::ranges::count(kept, false));
  if (others == 0) return {};
  std::vector<std::string> names = NamesOf(sessions, run);
  const std::string name = names[*chosen];
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(*chosen));
  std::ranges::reverse(names);  // the newest first
  run.skipped.insert(
      run.skipped.begin(),  // before single files: it says what the figures are of
      fmt::format("{} of {} ({}): left out, as they are not of {}; --session all has them too, "
                  "--session with a part of a file's path one of them",
                  FormatCounted(others, "trace"), FormatCounted(names.size(), "other session"),
                  Listed(names), name));
  size_t next = 0;
  std::erase_if(run.traces, [&](const TraceAnalysis&) { return !kept[next++]; });
  return {};
}

}  // namespace tacho

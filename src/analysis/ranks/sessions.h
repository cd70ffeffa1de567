#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks/ranks.h"

namespace tacho {

// A profiling session is the time from one start of the profilers to their stop.

// The name of the session in a trace's path: tacho's own ("tacho-20261121-222238", in the file's or
// a folder's name) or SGLang's (the file's name up to a time such as "1795263589.7707117"). "" if
// the path names none.
std::string SessionKey(std::string_view path);

// Groups paths by session, the earliest first, if each path holds tacho's name of a session, which
// says when it started; else nullopt. Each entry has indexes into `paths`.
std::optional<std::vector<std::vector<size_t>>> SessionsByName(
    const std::vector<std::string>& paths);

// Groups traces by session. Goes by SessionsByName if that works. Otherwise traces are of one
// session if they have the same SessionKey, or no key and the same trace id, or were recorded less
// than a second apart, directly or through others; the session that ended first comes first. A
// trace with neither key nor times is in every session. Reads path, base_time_ns, span and
// trace_id.
std::vector<std::vector<size_t>> SessionsOf(const std::vector<RankInput>& traces);

// The sessions of a folder's traces, and which of them the user asked for.
struct SessionChoice {
  std::vector<std::vector<size_t>> sessions;  // indexes into `paths`; the earliest session first
  std::vector<std::string> paths;
  // Indexes of the sessions that match what was asked for. The choice is made if exactly one does.
  std::vector<size_t> matches;

  [[nodiscard]] std::optional<size_t> chosen() const {
    return matches.size() == 1 ? std::optional(matches[0]) : std::nullopt;
  }
  // By path: whether its trace belongs to the chosen session.
  [[nodiscard]] std::vector<bool> IsChosen() const;
};

// `asked`: "latest", or a part of a path; the sessions that have a trace with such a path match.
SessionChoice ChooseSession(const std::string& asked, std::vector<std::vector<size_t>> sessions,
                            std::vector<std::string> paths);

}  // namespace tacho

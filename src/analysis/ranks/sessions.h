#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks/ranks.h"

namespace tacho {

// The name of the profiling session in a trace's path: tacho's own ("tacho-20261121-222238", in the
// file's name or a folder's) or SGLang's ("1795263589.7707117", with what stands before it in the
// file's name); "" without one. Each stands for one start of the profilers.
std::string SessionKey(std::string_view path);

// The sessions by the paths alone, the earliest first: each path must hold a name of tacho's, which
// says when the session started. nullopt if a path does not.
std::optional<std::vector<std::vector<size_t>>> SessionsByName(
    const std::vector<std::string>& paths);

// The traces of each profiling session: by name where the paths have one, else by their times, the
// session with the earliest last event first. Traces are of one session if they have the same
// session key, or no key and the same trace id, or were recorded at the same time or less than a
// second apart, directly or through others. A trace with nothing of this is in every session. Reads
// path, base_time_ns, span and trace_id of the traces.
std::vector<std::vector<size_t>> SessionsOf(const std::vector<RankInput>& traces);

// The profiling sessions that traces are of, and which one was asked for.
struct SessionChoice {
  std::vector<std::vector<size_t>> sessions;  // indexes into `paths`; the earliest session first
  std::vector<std::string> paths;
  // Indexes into `sessions`; none is chosen unless exactly one matches.
  std::vector<size_t> matches;

  [[nodiscard]] std::optional<size_t> chosen() const {
    return matches.size() == 1 ? std::optional(matches[0]) : std::nullopt;
  }
  // By path: whether its trace is of the chosen session.
  [[nodiscard]] std::vector<bool> IsChosen() const;
};

// `asked`: "latest", or a part of the path of one of its traces.
SessionChoice ChooseSession(const std::string& asked, std::vector<std::vector<size_t>> sessions,
                            std::vector<std::string> paths);

}  // namespace tacho

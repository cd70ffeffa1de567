#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The lines that a program wrote, from a line that a collector keeps as a JSON object: docker's
// json-file, journalctl -o json, fluent-bit, Loki, Cloud Logging, a JSON formatter of Python; also
// from an object in another, and from one that follows a time or a name. Each line of a message is
// returned separately, with the pod's name before it, as `docker compose` prints it. Empty if the
// line is no such object. Objects that hold an answer of a server are skipped: what a model wrote
// says nothing about an engine.
std::vector<std::string> LinesInEnvelope(std::string_view line);

// Calls `take` for each line in the envelope `line`; for `line` itself if it is none, as most are.
template <typename Take>
void ForEachLineIn(std::string_view line, Take take) {
  const std::vector<std::string> inside = LinesInEnvelope(line);
  for (const std::string& one : inside) take(std::string_view(one));
  if (inside.empty()) take(line);
}

}  // namespace tacho

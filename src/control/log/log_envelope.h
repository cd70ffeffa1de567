#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// What a program wrote, out of a line that a collector keeps as a JSON object: docker's json-file,
// journalctl -o json, fluent-bit, Loki, Cloud Logging, a JSON formatter of Python; also one object
// in another, and one that follows a time or a name. Each line of a message is one; a pod's name is
// put before each, as `docker compose` does. Empty if the line is no such object. Objects that hold
// an answer of a server are not read: what a model wrote says nothing about an engine.
std::vector<std::string> LinesInEnvelope(std::string_view line);

// Calls `take` for each line of a program that `line` holds: mostly for itself.
template <typename Take>
void ForEachLineIn(std::string_view line, Take take) {
  const std::vector<std::string> inside = LinesInEnvelope(line);
  for (const std::string& one : inside) take(std::string_view(one));
  if (inside.empty()) take(line);
}

}  // namespace tacho

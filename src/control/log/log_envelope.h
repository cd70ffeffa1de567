#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The lines that a program wrote, taken from one line of a collector that holds them as a JSON
// object: docker's json-file, journalctl -o json, fluent-bit, Loki, Cloud Logging, a JSON formatter
// of Python. The object may be inside another one, or follow a time or a name. Returns each line of
// a message separately, after the pod's name, as `docker compose` prints it. Empty if the line
// holds no such object. Objects that hold an answer of a server are skipped: what a model wrote
// says nothing about an engine.
std::vector<std::string> LinesInEnvelope(std::string_view line);

// Calls `take` for each line in the envelope `line`, or for `line` itself if it is not an envelope.
template <typename Take>
void ForEachLineIn(std::string_view line, Take take) {
  const std::vector<std::string> inside = LinesInEnvelope(line);
  for (const std::string& one : inside) take(std::string_view(one));
  if (inside.empty()) take(line);
}

}  // namespace tacho

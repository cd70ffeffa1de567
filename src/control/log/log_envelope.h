#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// Log collectors wrap a program's lines in JSON objects: docker's json-file, journalctl -o json,
// fluent-bit, Loki, Cloud Logging, JSON formatters of Python. This takes the program's lines out of
// one such line. The object may be inside another object, or may follow a time or a name. Returns
// each line of a message separately, after the pod's name, in the form of `docker compose`. Empty
// if the line holds no such object. Skips objects that hold a server's answer, because what a model
// wrote says nothing about an engine.
std::vector<std::string> LinesInEnvelope(std::string_view line);

// Calls `take` for each line wrapped in `line`, or for `line` itself if it wraps none.
template <typename Take>
void ForEachLineIn(std::string_view line, Take take) {
  const std::vector<std::string> inside = LinesInEnvelope(line);
  for (const std::string& one : inside) take(std::string_view(one));
  if (inside.empty()) take(line);
}

}  // namespace tacho

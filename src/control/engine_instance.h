#pragma once

#include <string>
#include <string_view>

namespace tacho {

// Identifies the process of an engine; does not change while the engine lives. Each part is "" if
// its source reports nothing.
struct EngineInstance {
  std::string id;       // from vLLM's developer mode: five digits, or a configured id
  std::string start;    // when it started, by its metrics
  std::string process;  // "PID TICKS" on this host; used if nothing else is known

  [[nodiscard]] bool empty() const { return id.empty() && start.empty() && process.empty(); }
  // "id:ID start:TIME" or "pid:PID TICKS", the form used in files; "" if no part is known.
  [[nodiscard]] std::string Text() const;
  // Whether the two differ in a part that both have, and so are different processes.
  [[nodiscard]] bool IsAnother(const EngineInstance& other) const;
};

// Reads what Text() wrote.
EngineInstance ParseInstance(std::string_view text);

}  // namespace tacho

#pragma once

#include <string>
#include <string_view>

namespace tacho {

// Which process an engine is: constant while it lives. Each part is "" if its source reports
// nothing.
struct EngineInstance {
  std::string id;       // from vLLM's developer mode: five digits, or a configured id
  std::string start;    // when it started, by its metrics
  std::string process;  // "PID TICKS" on this host, if nothing else is known

  [[nodiscard]] bool empty() const { return id.empty() && start.empty() && process.empty(); }
  // "id:ID start:TIME" or "pid:PID TICKS", the form in files. "" if it is empty.
  [[nodiscard]] std::string Text() const;
  // Whether the two differ in a part that both have.
  [[nodiscard]] bool IsAnother(const EngineInstance& other) const;
};

// The instance that `text`, from Text(), describes.
EngineInstance ParseInstance(std::string_view text);

}  // namespace tacho

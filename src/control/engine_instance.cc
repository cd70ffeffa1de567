#include "control/engine_instance.h"

#include <algorithm>

namespace tacho {
namespace {

constexpr std::string_view kId = "id:", kStart = "start:", kProcess = "pid:";

bool Differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}

}  // namespace

std::string EngineInstance::Text() const {
  std::string text;
  const auto add = [&](std::string_view name, const std::string& part) {
    if (part.empty()) return;
    text += text.empty() ? "" : " ";
    text += name;
    text += part;
  };
  add(kId, id);
  add(kProcess, process);
  add(kStart, start);
  return text;
}

bool EngineInstance::IsAnother(const EngineInstance& other) const {
  return Differ(id, other.id) || Differ(start, other.start) || Differ(process, other.process);
}

EngineInstance ParseInstance(std::string_view text) {
  EngineInstance instance;
  if (const size_t at = std::min(text.find(kStart), text.size()); at < text.size()) {
    instance.start = text.substr(at + kStart.size());
    text = text.substr(0, at);
  }
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  if (text.starts_with(kId)) instance.id = text.substr(kId.size());
  if (text.starts_with(kProcess)) instance.process = text.substr(kProcess.size());
  return instance;
}

}  // namespace tacho

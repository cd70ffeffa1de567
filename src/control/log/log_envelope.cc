#include "control/log/log_envelope.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/parse_json.h"
#include "base/words.h"
#include "control/log/log_line.h"
#include "control/log/log_prefix.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostBefore = 256, kMostOfObject = 1 << 20;
constexpr int kMostNested = 4;

// Keys under which collectors keep a program's line; below: keys of objects that hold such a key.
constexpr auto kMessages = std::to_array<const char*>(
    {"log", "message", "msg", "MESSAGE", "line", "text", "textPayload", "body"});
constexpr auto kHolders = std::to_array<const char*>({"jsonPayload", "_source", "fields"});
// Python's JSON formatters keep a traceback under its own key.
constexpr auto kTracebacks = std::to_array<const char*>({"exc_info", "exception"});
constexpr auto kPods = std::to_array<const char*>({"pod", "pod_name"});
constexpr auto kPodHolders = std::to_array<const char*>({"kubernetes", "labels"});
// Keys in the answers of model servers, and in the requests to them.
constexpr auto kOfAnswers =
    std::to_array<const char*>({"choices", "meta_info", "usage", "finish_reason", "prompt"});

// The text in a string or in an array of bytes: journalctl writes a line with colours as an array.
std::optional<std::string> KeptText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array() || value.empty()) return std::nullopt;
  std::string bytes;
  for (const Json& one : value) {
    if (!one.is_number_unsigned() || one.get<uint64_t>() > 0xff) return std::nullopt;
    bytes += static_cast<char>(one.get<uint64_t>());
  }
  return bytes;
}

std::optional<std::string> MessageIn(const Json& object) {
  const auto is_answers = [&](const char* key) { return object.contains(key); };
  if (!object.is_object() || std::ranges::any_of(kOfAnswers, is_answers)) return std::nullopt;
  for (const char* const key : kMessages) {
    const auto found = object.find(key);
    if (found == object.end()) continue;
    auto message = KeptText(*found);
    if (!message) continue;
    for (const char* const more : kTracebacks)
      if (const auto traceback = object.find(more); traceback != object.end())
        if (const auto text = KeptText(*traceback); text && !text->empty())
          *message += "\n" + *text;
    return message;
  }
  for (const char* const key : kHolders)
    if (const auto holder = object.find(key); holder != object.end() && holder->is_object())
      if (auto message = MessageIn(*holder)) return message;
  return std::nullopt;
}

std::string PodIn(const Json& object) {
  for (const char* const key : kPods)
    if (const auto pod = object.find(key); pod != object.end() && pod->is_string())
      if (auto name = pod->get<std::string>();
          !name.empty() && std::ranges::all_of(name, IsNameByte))
        return name;
  for (const char* const key : kPodHolders)
    if (const auto holder = object.find(key); holder != object.end() && holder->is_object())
      if (auto name = PodIn(*holder); !name.empty()) return name;
  return "";
}

// Whether `before` is empty, or is a time or a name that a collector writes.
bool IsOfACollector(std::string_view before) {
  TakeStamp(before);
  if (const size_t bar = before.find(" | "); bar != before.npos)  // a time may follow the name
    if (!JoinedNameIn(before.substr(0, bar + 3)).empty()) before.remove_prefix(bar + 3);
  TakeStamp(before);
  return Trim(before).empty() || !JoinedNameIn(before).empty();
}

}  // namespace

std::vector<std::string> LinesInEnvelope(std::string_view line) {
  const size_t at = line.substr(0, kMostBefore).find('{');
  if (at == line.npos || line.size() > kMostOfObject || Trim(line).back() != '}' ||
      !Trim(line.substr(at + 1)).starts_with('"'))
    return {};
  std::string before = WithoutColours(line.substr(0, at));
  if (!IsOfACollector(before)) return {};
  std::optional<std::string> message;
  std::string pod, text(line.substr(at));
  for (int nested = 0; nested < kMostNested; ++nested) {
    if (!Trim(text).starts_with('{')) break;
    const Json object = ParseJson(text);
    auto inside = MessageIn(object);
    if (!inside) break;
    if (pod.empty()) pod = PodIn(object);
    text = *inside;
    message = std::move(inside);
  }
  if (!message) return {};
  if (before.empty() && !pod.empty()) before = pod + " | ";
  std::vector<std::string> lines;
  for (std::string_view rest = *message; !rest.empty();)
    lines.push_back(before + std::string(TakeLine(rest)));
  if (lines.empty()) lines.push_back(before);
  return lines;
}

}  // namespace tacho

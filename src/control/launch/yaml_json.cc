#include "control/launch/yaml_json.h"

#include <yaml.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/json_text.h"

namespace tacho {
namespace {

constexpr size_t kDeepest = 64;

bool IsWholeNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.size() > 18 || (text.size() > 1 && text[0] == '0')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Writes JSON event by event.
class JsonOfEvents {
 public:
  // Returns false for an event that JSON cannot express, or that no list for tacho contains.
  bool Take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return Scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        return Open('[', ']');
      case YAML_MAPPING_START_EVENT:
        return Open('{', '}');
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        text_ += open_.back().close;
        open_.pop_back();
        return true;
      case YAML_ALIAS_EVENT:
        return false;
      default:
        return true;
    }
  }
  std::string Finish() && { return std::move(text_) + "]"; }

 private:
  struct Level {
    char close;
    size_t items = 0;  // in a mapping, keys and values count separately
  };

  // Writes the separator before the next item. Returns whether that item is a key.
  bool Separate() {
    Level& level = open_.back();
    const bool is_map = level.close == '}';
    const bool is_key = is_map && level.items % 2 == 0;
    if (level.items > 0) text_ += is_map && !is_key ? ':' : ',';
    ++level.items;
    return is_key;
  }

  bool Open(char open, char close) {
    if (Separate() || open_.size() > kDeepest) return false;
    text_ += open;
    open_.push_back({close});
    return true;
  }

  bool Scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const std::string_view value(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const bool is_key = Separate();
    const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE && !is_key;
    if (plain && (value.empty() || value == "~" || value == "null")) {
      text_ += "null";
    } else if (plain && (value == "true" || value == "false" || IsWholeNumber(value))) {
      text_ += value;
    } else {
      text_ += QuoteJson(value);
    }
    return true;
  }

  std::string text_ = "[";
  std::vector<Level> open_ = {{']'}};
};

}  // namespace

std::optional<std::string> JsonOfYaml(std::string_view text) {
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) return std::nullopt;
  const std::unique_ptr<yaml_parser_t, void (*)(yaml_parser_t*)> owner(&parser, yaml_parser_delete);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
  JsonOfEvents json;
  while (true) {
    yaml_event_t event;
    if (yaml_parser_parse(&parser, &event) == 0) return std::nullopt;
    const bool ends = event.type == YAML_STREAM_END_EVENT;
    const bool taken = json.Take(event);
    yaml_event_delete(&event);
    if (!taken) return std::nullopt;
    if (ends) return std::move(json).Finish();
  }
}

}  // namespace tacho

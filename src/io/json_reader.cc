#include "io/json_reader.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace tacho {

using simdjson::dom::element;

namespace {

// Whether `text` ends inside a string, an object or an array.
bool EndsOpen(std::string_view text) {
  int64_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
  }
  return in_string || depth > 0;
}

}  // namespace

struct JsonReader::Document {
  // One open object or array.
  struct Level {
    std::string_view key = {};
    std::optional<element> value = {};  // in an array: the current item, once there is one
    simdjson::dom::array::iterator next = {}, end = {};
    size_t items = 0;  // in an array: number of items taken so far
    bool is_array = false;
  };

  // The field `key` of the open object, or the current item of the open array.
  std::optional<element> Find(std::string_view key) const {
    const Level& level = levels.back();
    if (!level.value || !error.empty()) return std::nullopt;
    if (level.is_array && key.empty()) return level.value;
    element found;
    if (level.value->at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
    return found;
  }
  // Like Find, but it is an error if the open object lacks the field.
  std::optional<element> Need(std::string_view key) {
    const auto found = Find(key);
    if (!found && levels.back().value && error.empty())
      error = PathOf(key) + ": expected a value, as this version of tacho writes one";
    return found;
  }
  // Where the field `key` is, for a message: "traces[3].kernels[0].count".
  std::string PathOf(std::string_view key) const {
    std::string path;
    for (const Level& level : levels) {
      if (!path.empty() && !level.key.empty()) path += '.';
      path += level.key;
      if (level.is_array && level.items > 0) path += fmt::format("[{}]", level.items - 1);
    }
    if (!path.empty() && !key.empty()) path += '.';
    path += key;
    return path;
  }

  simdjson::dom::parser parser;
  std::vector<Level> levels;
  size_t items = 0;  // number of items taken from all lists together
  std::string error;
};

JsonReader::JsonReader(std::unique_ptr<Document> document) : document_(std::move(document)) {}
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;
JsonReader::~JsonReader() = default;

Result<JsonReader> JsonReader::Parse(std::string text) {
  // Without this room the parser would copy the text.
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  auto document = std::make_unique<Document>();
  element root;
  if (const auto error = document->parser.parse(text.data(), text.size(), false).get(root);
      error != simdjson::SUCCESS) {
    if (EndsOpen(text)) {
      return Fail(ErrorKind::kUnreadable, fmt::format("cut off at byte {}", text.size()));
    }
    return Fail(ErrorKind::kUnreadable,
                fmt::format("not valid JSON: {}", simdjson::error_message(error)));
  }
  if (!root.is_object()) return Fail(ErrorKind::kUnreadable, "not a JSON object");
  document->levels.push_back({.key = {}, .value = root});
  return JsonReader(std::move(document));
}

void JsonReader::BeginObject(std::string_view key) {
  std::optional<element> value = document_->Find(key);
  if (value && !value->is_object()) {
    Refuse(key, "an object");
    value.reset();
  }
  document_->levels.push_back({.key = key, .value = value});
}

void JsonReader::End() { document_->levels.pop_back(); }

bool JsonReader::Has(std::string_view key) const { return document_->Find(key).has_value(); }

void JsonReader::Field(std::string_view key, std::string& value) {
  const auto found = document_->Need(key);
  std::string_view text;
  if (!found) return;
  if (found->get(text) != simdjson::SUCCESS) return Refuse(key, "text");
  value = text;
}

void JsonReader::Field(std::string_view key, bool& value) {
  const auto found = document_->Need(key);
  if (found && found->get(value) != simdjson::SUCCESS) Refuse(key, "true or false");
}

void JsonReader::Field(std::string_view key, double& value) {
  const auto found = document_->Need(key);
  if (found && found->get(value) != simdjson::SUCCESS) Refuse(key, "a number");
}

std::optional<int64_t> JsonReader::Whole(std::string_view key, int64_t least, int64_t most) {
  const auto found = document_->Need(key);
  int64_t value = 0;
  if (!found) return std::nullopt;
  if (found->get(value) == simdjson::SUCCESS && value >= least && value <= most) return value;
  Refuse(key, fmt::format("a whole number from {} to {}", least, most));
  return std::nullopt;
}

std::optional<uint64_t> JsonReader::Natural(std::string_view key) {
  const auto found = document_->Need(key);
  uint64_t value = 0;
  if (!found) return std::nullopt;
  if (found->get(value) == simdjson::SUCCESS && value <= kMostCount) return value;
  Refuse(key, fmt::format("a whole number that is not negative and at most {}", kMostCount));
  return std::nullopt;
}

size_t JsonReader::BeginItems(std::string_view key) {
  const auto found = document_->Need(key);
  Document::Level level;
  level.key = key;
  level.is_array = true;
  simdjson::dom::array items;
  if (found && found->get(items) == simdjson::SUCCESS) {
    level.next = items.begin();
    level.end = items.end();
  } else if (found) {
    Refuse(key, "a list");
  }
  document_->levels.push_back(level);
  // A short text may hold many items that are wrong.
  constexpr size_t kMostRoom = 1024;
  return level.next != level.end ? std::min(items.size(), kMostRoom) : 0;
}

bool JsonReader::NextItem() {
  Document::Level& level = document_->levels.back();
  if (!document_->error.empty() || !(level.next != level.end)) return false;
  level.value = *level.next;
  ++level.next;
  ++level.items;
  if (++document_->items <= kMostItems) return true;
  Refuse({}, fmt::format("at most {} items in all lists", kMostItems));
  return false;
}

bool JsonReader::IsObject() {
  if (document_->levels.back().value->is_object()) return true;
  Refuse({}, "an object");
  return false;
}

std::vector<std::pair<std::string, uint64_t>> JsonReader::TakeCounts() {
  std::vector<std::pair<std::string, uint64_t>> counts;
  const Document::Level& level = document_->levels.back();
  simdjson::dom::object object;
  if (!IsOpen() || level.value->get(object) != simdjson::SUCCESS) return counts;
  for (const auto field : object) {
    uint64_t count = 0;
    if (field.value.get(count) != simdjson::SUCCESS || count > kMostCount) {
      Refuse(field.key, "a count");
      break;
    }
    counts.emplace_back(field.key, count);
  }
  return counts;
}

bool JsonReader::IsOpen() const {
  return document_->levels.back().value.has_value() && document_->error.empty();
}

void JsonReader::Refuse(std::string_view key, std::string_view expected) {
  if (document_->error.empty())
    document_->error = fmt::format("{}: expected {}", document_->PathOf(key), expected);
}

Result<void> JsonReader::Finish() const {
  if (document_->error.empty()) return {};
  return Fail(ErrorKind::kUnreadable, document_->error);
}

}  // namespace tacho

#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/field_kinds.h"
#include "base/time.h"

namespace tacho {

inline std::optional<std::string_view> UnlessEmpty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// Writes one JSON document into a string. Keys are written in the order of the calls, so the same
// data gives the same bytes. Optional values that are absent and numbers that are not finite are
// left out together with their keys.
//
//   JsonWriter json;
//   json.BeginObject();
//   json.Field("schema", 1);
//   json.Rows("kernels", kernels, [&](const Kernel& kernel) {
//     json.Fields("name", kernel.name, "count", kernel.count);
//   });
//   json.End();
class JsonWriter {
 public:
  static constexpr bool kReads = false;

  // Begin a container. Inside an object it needs a key; inside an array it has none.
  void BeginObject(std::string_view key = {}) { Begin(key, '{', false); }
  void BeginArray(std::string_view key = {}) { Begin(key, '[', false); }
  // The same, but the container is on one line with everything inside.
  void BeginRow(std::string_view key = {}) { Begin(key, '{', true); }
  void BeginList(std::string_view key = {}) { Begin(key, '[', true); }
  void End();

  void Field(std::string_view key, std::string_view value);
  void Field(std::string_view key, const char* value) { Field(key, std::string_view(value)); }
  void Field(std::string_view key, bool value) { Raw(key, value ? "true" : "false"); }
  void Field(std::string_view key, double value);
  void Field(std::string_view key, DurationNs value) { Raw(key, std::to_string(value.ns)); }
  void Field(std::string_view key, TimeNs value) { Raw(key, std::to_string(value.ns)); }
  void Field(std::string_view key, std::integral auto value) { Raw(key, std::to_string(value)); }
  template <typename T>
  void Field(std::string_view key, const std::optional<T>& value) {
    if (value) Field(key, *value);
  }
  template <typename T>
  void Field(std::string_view key, const Derived<T>& field) {
    Field(key, field.value);
  }
  template <typename T, typename Unknown>
  void Field(std::string_view key, const UnlessIs<T, Unknown>& field) {
    if (field.value != field.unknown) Field(key, field.value);
  }
  template <typename Enum>
  void Field(std::string_view key, const ByName<Enum>& field) {
    Field(key, field.name(field.value));
  }
  template <typename T>
  void Field(std::string_view key, const Signed<T>& field) {
    Field(key, field.value);
  }
  template <typename T>
  void Field(std::string_view key, const LengthOf<T>& field) {
    Field(key, field.interval.length());
  }
  // Writes a value that is already JSON.
  void JsonField(std::string_view key, std::string_view json) { Raw(key, json); }
  // Takes keys and values in turn.
  template <typename T, typename... More>
  void Fields(std::string_view key, const T& value, const More&... more) {
    Field(key, value);
    if constexpr (sizeof...(More) > 0) Fields(more...);
  }
  // Writes an object with these fields on one line.
  void Row(std::string_view key, const auto&... keys_and_values) {
    BeginRow(key);
    Fields(keys_and_values...);
    End();
  }
  // Writes an array of objects, each on one line. `write` writes the fields of one item.
  void Rows(std::string_view key, const auto& items, const auto& write) {
    BeginArray(key);
    for (const auto& item : items) {
      BeginRow();
      write(item);
      End();
    }
    End();
  }
  // The same, but each object takes several lines.
  void Objects(std::string_view key, auto& items, const auto& write) {
    BeginArray(key);
    for (auto& item : items) {
      BeginObject();
      write(item);
      End();
    }
    End();
  }
  // Writes an array of values on one line.
  void List(std::string_view key, const auto& items) {
    BeginList(key);
    for (const auto& item : items) Field({}, item);
    End();
  }

  // Returns the text written since the last call. For documents that are too large for memory.
  std::string Take() { return std::exchange(out_, {}); }
  // Returns the document with a line feed at its end. All containers must have been ended.
  std::string Finish() &&;

 private:
  struct Level {
    char close;
    bool on_one_line;
    bool empty = true;
  };
  void Begin(std::string_view key, char open, bool on_one_line);
  void Raw(std::string_view key, std::string_view value);
  void Separate(std::string_view key);

  std::string out_;
  std::vector<Level> levels_;
};

// Every JSON result of tacho begins with these fields: the version of its schema and the version of
// tacho.
inline void WriteTachoJson(JsonWriter& json, std::string_view version, int schema = 1) {
  json.Field("schema", schema);
  json.Row("tacho", "version", version);
}

}  // namespace tacho

#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/field_kinds.h"
#include "base/result.h"
#include "base/time.h"

namespace tacho {

// Reads one JSON document with the same calls with which JsonWriter (text/json_writer.h) writes it,
// so that one template can do both. Fields are looked up by key: their order does not matter, and
// unknown fields are skipped.
//
// Only objects, std::optional fields and fields with UnlessIs may be absent; their values then stay
// as they were. The first other field that is absent, or has a wrong type or range, ends the
// reading of values; Finish tells which field it was. All lists together give at most kMostItems
// items.
//
// Cost: the document is parsed once, and each field is searched in its object. Memory: some 12
// times the document's size.
class JsonReader {
 public:
  static constexpr bool kReads = true;
  static constexpr int64_t kMostNs = int64_t{1} << 61;  // 73 years: three such values can be added
  static constexpr uint64_t kMostCount = uint64_t{1} << 53;
  static constexpr size_t kMostItems = 16'000'000;

  // Fails with kUnreadable if `text` is not one JSON object; the error is "cut off at byte 20" if
  // the text ends before the object does.
  static Result<JsonReader> Parse(std::string text);
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;
  ~JsonReader();

  // Opens an object inside the open one. If there is none, reading its fields changes nothing.
  void BeginObject(std::string_view key);
  void BeginRow(std::string_view key) { BeginObject(key); }
  void End();
  [[nodiscard]] bool Has(std::string_view key) const;

  void Field(std::string_view key, std::string& value);
  void Field(std::string_view key, bool& value);
  void Field(std::string_view key, double& value);
  void Field(std::string_view key, DurationNs& value) { TakeNs(key, 0, value.ns); }
  void Field(std::string_view key, TimeNs& value) { TakeNs(key, -kMostNs, value.ns); }
  template <std::integral T>
  void Field(std::string_view key, T& value) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(uint64_t)) {
      if (const auto read = Natural(key)) value = *read;
    } else if (const auto read =
                   Whole(key, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())) {
      value = static_cast<T>(*read);
    }
  }
  template <typename T>
  void Field(std::string_view key, std::optional<T>& value) {
    if (!Has(key)) return;
    Field(key, value.emplace());
  }
  template <typename T>
  void Field(std::string_view, const Derived<T>&) {}
  template <typename T, typename Unknown>
  void Field(std::string_view key, const UnlessIs<T, Unknown>& field) {
    if (Has(key)) Field(key, field.value);
  }
  template <typename Enum>
  void Field(std::string_view key, const ByName<Enum>& field) {
    std::string name;
    Field(key, name);
    if (!IsOpen()) return;
    for (size_t i = 0; i < field.count; ++i) {
      if (field.name(static_cast<Enum>(i)) != name) continue;
      field.value = static_cast<Enum>(i);
      return;
    }
    Refuse(key, "a name that this version of tacho knows");
  }
  template <typename T>
  void Field(std::string_view key, const Signed<T>& field) {
    TakeNs(key, -kMostNs, field.value.ns);
  }
  template <typename T>
  void Field(std::string_view key, const LengthOf<T>& field) {
    DurationNs length;
    Field(key, length);
    field.interval.end.ns = AddSaturated(field.interval.start.ns, length.ns);
  }

  template <typename T, typename... More>
  void Fields(std::string_view key, T&& value, More&&... more) {
    Field(key, value);
    if constexpr (sizeof...(More) > 0) Fields(more...);
  }
  template <typename... More>
  void Row(std::string_view key, More&&... keys_and_values) {
    BeginRow(key);
    Fields(keys_and_values...);
    End();
  }
  // Reads a list; appends one item to `items` for each of its elements.
  template <typename T, typename Read>
  void Rows(std::string_view key, std::vector<T>& items, const Read& read) {
    items.reserve(items.size() + BeginItems(key));
    while (NextItem() && IsObject()) read(items.emplace_back());
    End();
  }
  template <typename T, typename Read>
  void Objects(std::string_view key, std::vector<T>& items, const Read& read) {
    Rows(key, items, read);
  }
  template <typename T>
  void List(std::string_view key, std::vector<T>& items) {
    items.reserve(items.size() + BeginItems(key));
    while (NextItem()) Field({}, items.emplace_back());
    End();
  }
  // Calls `visit` with the name and value of each field of the open object. All its fields must be
  // counts.
  template <typename Visit>
  void Counts(const Visit& visit) {
    for (auto& [name, count] : TakeCounts()) visit(std::move(name), count);
  }

  // Reports a field as wrong. `expected`: what would be right.
  void Refuse(std::string_view key, std::string_view expected);
  // kUnreadable if a field was wrong: "traces[3].kernels[0].count: expected a whole number".
  [[nodiscard]] Result<void> Finish() const;

 private:
  struct Document;
  explicit JsonReader(std::unique_ptr<Document> document);
  std::optional<int64_t> Whole(std::string_view key, int64_t least, int64_t most);
  void TakeNs(std::string_view key, int64_t least, int64_t& ns) {
    if (const auto read = Whole(key, least, kMostNs)) ns = *read;
  }
  std::optional<uint64_t> Natural(std::string_view key);
  std::vector<std::pair<std::string, uint64_t>> TakeCounts();
  // Whether values are still read: the open object exists, and no field was wrong so far.
  [[nodiscard]] bool IsOpen() const;
  // Returns for how many items to make room: their number, unless they are many.
  size_t BeginItems(std::string_view key);
  bool NextItem();
  bool IsObject();  // reports an item that is not an object as wrong

  std::unique_ptr<Document> document_;
};

}  // namespace tacho

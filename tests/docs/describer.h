#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/field_kinds.h"
#include "base/time.h"

namespace tacho {

// Takes the calls that write a document to a JsonWriter, and makes of them a description of its
// fields: a JSON Schema (draft 2020-12). A visit to an object of depth d with all that is optional
// down to there and nothing of it from there on has exactly the fields that such objects always
// have, so one visit to each depth finds these. Throws std::logic_error for a field without a
// meaning beside one with it, and for a time whose key has a meaning and does not end in "ns".
class Describer {
 public:
  static constexpr bool kReads = false;
  static constexpr bool kDescribes = true;

  // `write` makes the calls, from inside the outermost object.
  template <typename Write>
  static nlohmann::ordered_json Describe(const Write& write) {
    Describer out;
    // The first visit finds all fields, the others those of one depth that are always there.
    write(out);
    for (out.depth_ = 1; out.depth_ <= out.deepest_; ++out.depth_) write(out);
    return Schema(out.root_);
  }

  [[nodiscard]] bool VisitsOptional() const { return depth_ == 0 || open_.size() < depth_; }

  void BeginObject(const Key& key) { Open(Always(key, "object")); }
  void BeginRow(const Key& key) { BeginObject(key); }
  void End() { open_.pop_back(); }

  template <typename T>
  void Field(const Key& key, const T& value) {
    Of(key, value, true);
  }
  template <typename T, typename... More>
  void Fields(const Key& key, const T& value, const More&... more) {
    Field(key, value);
    if constexpr (sizeof...(More) > 0) Fields(more...);
  }
  template <typename Items, typename Write>
  void Rows(const Key& key, const Items&, const Write& write) {
    Node& list = Always(key, "array");
    if (!list.items) list.items = std::make_unique<Node>(Node{.type = "object"});
    Open(*list.items);
    typename std::remove_cvref_t<Items>::value_type item{};
    write(item);
    End();
  }
  template <typename Items, typename Write>
  void Objects(const Key& key, const Items& items, const Write& write) {
    Rows(key, items, write);
  }
  template <typename Items>
  void List(const Key& key, const Items&) {
    Node& list = Always(key, "array");
    list.items = std::make_unique<Node>(
        Node{.type = TypeOf<typename std::remove_cvref_t<Items>::value_type>()});
  }
  // The open object has counts by names that the data gives.
  void Counts(const auto&) { open_.back()->by_name = "integer"; }

 private:
  struct Node {
    std::string type, means = {};
    std::vector<std::string> names = {};  // of a value that is one of these
    bool always = false;
    std::vector<std::pair<std::string, std::unique_ptr<Node>>> fields = {};
    std::string by_name = {};  // type of the values of names that the data gives
    std::unique_ptr<Node> items = nullptr;
  };

  template <typename T>
  static std::string TypeOf() {
    using Value = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<Value, bool>) {
      return "boolean";
    } else if constexpr (std::integral<Value> || requires(Value value) { value.ns; }) {
      return "integer";
    } else if constexpr (std::floating_point<Value>) {
      return "number";
    } else {
      static_assert(std::convertible_to<Value, std::string_view>);
      return "string";
    }
  }

  template <typename T>
  void Of(const Key& key, const T& value, bool always) {
    if constexpr (requires(T time) { time.ns; }) {
      if (!key.means.empty() && !key.name.ends_with("ns"))
        throw std::logic_error(std::string(key.name) + ": not _ns");
    }
    const std::string type = TypeOf<T>();
    always ? Always(key, type) : Named(key, type);
    static_cast<void>(value);
  }
  template <typename T>
  void Of(const Key& key, const std::optional<T>&, bool) {
    Of(key, T{}, false);
  }
  template <typename T>
  void Of(const Key& key, const Derived<T>& field, bool always) {
    Of(key, field.value, always);
  }
  template <typename T, typename Unknown>
  void Of(const Key& key, const UnlessIs<T, Unknown>& field, bool) {
    Of(key, field.value, false);
  }
  template <typename Enum>
  void Of(const Key& key, const ByName<Enum>& field, bool always) {
    Node& node = always ? Always(key, "string") : Named(key, "string");
    node.names.clear();
    for (size_t i = 0; i < field.count; ++i)
      node.names.emplace_back(field.name(static_cast<std::remove_const_t<Enum>>(i)));
  }
  template <typename T>
  void Of(const Key& key, const Signed<T>& field, bool always) {
    Of(key, field.value, always);
  }
  template <typename T>
  void Of(const Key& key, const LengthOf<T>&, bool always) {
    Of(key, DurationNs{}, always);
  }

  // The field of the open object, made when it is met first.
  Node& Named(const Key& key, const std::string& type) {
    Node& object = *open_.back();
    if (key.means.empty()) {
      object.by_name = type;
      return object;
    }
    for (auto& [name, node] : object.fields) {
      if (name == key.name) return *node;
    }
    object.fields.emplace_back(
        key.name, std::make_unique<Node>(Node{.type = type, .means = std::string(key.means)}));
    return *object.fields.back().second;
  }
  Node& Always(const Key& key, const std::string& type) {
    Node& node = Named(key, type);
    if (open_.size() == depth_ && !key.means.empty()) node.always = true;
    return node;
  }
  void Open(Node& node) {
    open_.push_back(&node);
    deepest_ = std::max(deepest_, open_.size());
  }

  static nlohmann::ordered_json Schema(const Node& node) {
    if (!node.by_name.empty() && !node.fields.empty())
      throw std::logic_error(node.fields.front().first + ": a field beside it has no meaning");
    nlohmann::ordered_json schema{{"type", node.type}};
    if (!node.means.empty()) schema["description"] = node.means;
    if (!node.names.empty()) schema["enum"] = node.names;
    if (!node.by_name.empty()) schema["additionalProperties"] = {{"type", node.by_name}};
    if (node.items) schema["items"] = Schema(*node.items);
    for (const auto& [name, field] : node.fields) {
      schema["properties"][name] = Schema(*field);
      if (field->always) schema["required"].push_back(name);
    }
    return schema;
  }

  Node root_{.type = "object"};
  std::vector<Node*> open_ = {&root_};
  size_t depth_ = 0, deepest_ = 1;  // of objects: the outermost is 1
};

}  // namespace tacho

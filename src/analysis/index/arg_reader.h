#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace tacho {

// Reads the same argument of many events. ArgText searches for the key in each event and makes a
// string; this class searches once for each shape (set of argument names) and reads only the value.
// Immutable.
class ArgReader {
 public:
  // `old_key`: the name that the argument has in old files ("Input dims"). It is used for events
  // without `key`.
  ArgReader(const Trace& trace, std::string_view key, std::string_view old_key = {})
      : trace_(trace) {
    const StringId wanted = trace.words.strings.Find(key);
    const StringId old = trace.words.strings.Find(old_key);
    places_.resize(trace.words.args_shapes().size());
    for (size_t i = 0; i < places_.size(); ++i) {
      const ArgsShape& shape = trace.words.args_shapes()[i];
      if (wanted != StringId::kEmpty) places_[i] = Locate(shape, wanted);
      if (places_[i].how == How::kAbsent && old != StringId::kEmpty)
        places_[i] = Locate(shape, old);
      anywhere_ = anywhere_ || places_[i].how != How::kAbsent;
    }
  }

  // False when no event has the argument.
  [[nodiscard]] bool anywhere() const { return anywhere_; }

  // The value as an integer, quoted or not; nullopt when it is absent or not an integer.
  [[nodiscard]] std::optional<int64_t> Integer(const ArgsOf& args) const {
    const Place& place = places_[Index(args.ref.shape)];
    switch (place.how) {
      case How::kAbsent:
        return std::nullopt;
      case How::kConstant:
        return JsonInteger(trace_.Text(place.constant));
      case How::kInteger:
        return StreamValue(place, args);
      case How::kText:
        return JsonInteger(trace_.Text(static_cast<StringId>(StreamValue(place, args))));
      case How::kCorrelation:
        return args.correlation;
      case How::kExternalId:
        return args.external_id;
      case How::kGraphNode:
        return args.graph_node;
    }
    return std::nullopt;
  }

  // The JSON text of the value; kEmpty when it is absent or kept as a number.
  [[nodiscard]] StringId Text(const ArgsOf& args) const {
    const Place& place = places_[Index(args.ref.shape)];
    if (place.how == How::kConstant) return place.constant;
    if (place.how == How::kText) return static_cast<StringId>(StreamValue(place, args));
    return StringId::kEmpty;
  }

 private:
  enum class How : uint8_t {
    kAbsent,
    kConstant,
    kInteger,
    kText,
    kCorrelation,
    kExternalId,
    kGraphNode
  };
  struct Place {
    How how = How::kAbsent;
    uint32_t before = 0;  // how many values of the event stand in the stream before this one
    StringId constant = StringId::kEmpty;
  };

  static Place Locate(const ArgsShape& shape, StringId key) {
    for (auto entry = shape.entries.rbegin(); entry != shape.entries.rend(); ++entry) {
      if (entry->key != key) continue;
      if (entry->slot < 0) return {How::kConstant, 0, entry->constant};
      Place place;
      for (int32_t i = 0; i < entry->slot; ++i) {
        place.before += IsInStream(shape.slots[static_cast<size_t>(i)].home) ? 1 : 0;
      }
      switch (shape.slots[static_cast<size_t>(entry->slot)].home) {
        case SlotHome::kInteger:
          place.how = How::kInteger;
          break;
        case SlotHome::kText:
          place.how = How::kText;
          break;
        case SlotHome::kCorrelation:
          place.how = How::kCorrelation;
          break;
        case SlotHome::kExternalId:
          place.how = How::kExternalId;
          break;
        case SlotHome::kGraphNode:
          place.how = How::kGraphNode;
          break;
      }
      return place;
    }
    return {};
  }

  [[nodiscard]] int64_t StreamValue(const Place& place, const ArgsOf& args) const {
    const uint8_t* from = trace_.arg_values.begin() + args.ref.values;
    int64_t value = 0;
    for (uint32_t i = 0; i <= place.before; ++i) from = ReadVarint(from, value);
    return value;
  }

  const Trace& trace_;
  std::vector<Place> places_;  // indexed by ArgsShapeId
  bool anywhere_ = false;
};

}  // namespace tacho

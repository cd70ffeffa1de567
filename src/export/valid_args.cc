#include "export/valid_args.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace tacho {

bool IsJson(std::string_view text) { return nlohmann::json::accept(text); }

bool ValidArgs::ShapeIsValid(ArgsShapeId id) {
  Known& known = shapes_[Index(id)];
  if (known == Known::kNot) {
    const ArgsShape& shape = trace_.words[id];
    std::string text;  // the shape's text with the number 0 in each slot
    size_t from = 0;
    for (const ArgsShape::Slot& slot : shape.slots) {
      text.append(shape.text, from, slot.at - from) += '0';
      from = slot.at;
    }
    text.append(shape.text, from);
    known = IsJson(text) ? Known::kValid : Known::kInvalid;
  }
  return known == Known::kValid;
}

bool ValidArgs::TextsAreValid(const ArgsOf& args) {
  const uint8_t* from = trace_.arg_values.begin() + args.ref.values;
  for (const ArgsShape::Slot& slot : trace_.words[args.ref.shape].slots) {
    if (!IsInStream(slot.home)) continue;
    int64_t value = 0;
    from = ReadVarint(from, value);
    if (slot.home != SlotHome::kText) continue;
    Known& known = texts_[static_cast<size_t>(value)];
    if (known == Known::kNot) {
      known = IsJson(trace_.Text(static_cast<StringId>(value))) ? Known::kValid : Known::kInvalid;
    }
    if (known == Known::kInvalid) return false;
  }
  return true;
}

std::string ValidArgs::Json(const ArgsOf& args) {
  if (args.ref.shape == ArgsShapeId::kNone) return {};
  if (ShapeIsValid(args.ref.shape) && TextsAreValid(args)) return ArgsText(trace_, args);
  std::string repaired;
  for (const ArgsShape::Entry& entry : trace_.words[args.ref.shape].entries) {
    const std::string key(trace_.Text(entry.key));
    const std::string value = ArgText(trace_, args, key).value_or("");
    repaired += (repaired.empty() ? "{" : ",") + QuoteJson(key) + ":" +
                (IsJson(value) ? value : QuoteJson(value));
  }
  return repaired.empty() ? "{}" : repaired + "}";
}

}  // namespace tacho

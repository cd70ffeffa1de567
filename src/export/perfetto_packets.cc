#include "export/perfetto_packets.h"

#include <charconv>
#include <cmath>

#include "base/json_text.h"
#include "base/parse_number.h"
#include "base/utf8.h"

namespace tacho {
namespace {

enum Annotation : uint32_t {
  kKeyId = 1,
  kBool = 2,
  kInt = 4,
  kDouble = 5,
  kTextId = 17,
};

// Returns whether an id is new, and remembers it. Ids are small numbers.
bool IsNew(uint64_t id, std::vector<bool>& known) {
  if (known.size() <= id) known.resize(id + 1);
  if (known[id]) return false;
  return known[id] = true;
}

}  // namespace

void SendPacket(const ProtoWriter& packet, Pieces& out) {
  ProtoWriter file;
  file.Message(1, packet);
  out.text() += file.bytes();
  out.Pass();
}

void PerfettoPackets::Send(ProtoWriter packet) {
  constexpr uint64_t kClearsState = 1, kNeedsState = 2;
  packet.Number(perfetto::kSequence, sequence_);
  packet.Number(perfetto::kSequenceFlags, first_ ? kClearsState | kNeedsState : kNeedsState);
  if (first_) packet.Number(perfetto::kFirstOnSequence, 1);
  first_ = false;
  if (!interned_.empty()) packet.Message(perfetto::kInternedData, interned_);
  interned_.Clear();
  SendPacket(packet, out_);
}

void PerfettoPackets::Track(const TrackOf& track) {
  constexpr uint64_t kExplicit = 3, kByKey = 3;
  ProtoWriter descriptor;
  descriptor.Number(perfetto::kUuid, track.uuid);
  if (track.parent != 0) descriptor.Number(perfetto::kParent, track.parent);
  descriptor.Bytes(perfetto::kTrackName, ValidUtf8(track.name));
  if (track.is_counter) descriptor.Message(perfetto::kCounter, {});
  descriptor.Number(perfetto::kChildOrdering, kExplicit);
  descriptor.Number(perfetto::kOrderRank, track.order);
  if (track.key != 0) {
    descriptor.Number(perfetto::kMergeBehavior, kByKey);
    descriptor.Number(perfetto::kMergeKeyNumber, track.key);
  }
  ProtoWriter packet;
  packet.Message(perfetto::kTrackDescriptor, descriptor);
  Send(std::move(packet));
}

void PerfettoPackets::Intern(uint32_t kind, uint64_t id, std::string_view text) {
  ProtoWriter entry;
  entry.Number(1, id);
  entry.Bytes(2, ValidUtf8(text));
  interned_.Message(kind, entry);
}

uint64_t PerfettoPackets::NameId(uint64_t name, std::string_view text) {
  const uint64_t id = name + 1;
  if (IsNew(id, names_)) Intern(perfetto::kNames, id, text);
  return id;
}

uint64_t PerfettoPackets::CategoryId(std::string_view category) {
  const auto known = categories_.find(category);
  if (known != categories_.end()) return known->second;
  const uint64_t id = categories_.size() + 1;
  categories_.emplace(category, id);
  Intern(perfetto::kCategoryNames, id, category);
  return id;
}

void PerfettoPackets::AddValue(StringId json, ProtoWriter& annotation) {
  const std::string_view text = trace_.Text(json);
  if (const auto integer = ParseWhole<int64_t>(text)) return annotation.Signed(kInt, *integer);
  if (text == "true" || text == "false") return annotation.Number(kBool, text == "true" ? 1 : 0);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(number))
    return annotation.Double(kDouble, number);
  const uint64_t id = uint64_t{Index(json)} + 1;
  annotation.Number(kTextId, id);
  if (IsNew(id, texts_))
    Intern(perfetto::kTexts, id,
           text.starts_with('"') ? JsonStringOrText(text) : CompactJson(text));
}

void PerfettoPackets::AddArguments(const ArgsOf& args, ProtoWriter& event) {
  if (args.ref.shape == ArgsShapeId::kNone) return;
  const ArgsShape& shape = trace_.words[args.ref.shape];
  std::vector<int64_t> values;
  const uint8_t* from = trace_.arg_values.begin() + args.ref.values;
  for (const ArgsShape::Slot& slot : shape.slots) {
    int64_t& value = values.emplace_back();
    if (slot.home == SlotHome::kCorrelation)
      value = args.correlation;
    else if (slot.home == SlotHome::kExternalId)
      value = args.external_id;
    else if (slot.home == SlotHome::kGraphNode)
      value = args.graph_node;
    else
      from = ReadVarint(from, value);
  }
  for (const ArgsShape::Entry& entry : shape.entries) {
    ProtoWriter annotation;
    const uint64_t key = uint64_t{Index(entry.key)} + 1;
    annotation.Number(kKeyId, key);
    if (IsNew(key, keys_)) Intern(perfetto::kKeys, key, trace_.Text(entry.key));
    if (entry.slot < 0) {
      AddValue(entry.constant, annotation);
    } else if (const auto slot = static_cast<size_t>(entry.slot);
               shape.slots[slot].home == SlotHome::kText) {
      AddValue(static_cast<StringId>(values[slot]), annotation);
    } else {
      annotation.Signed(kInt, values[slot]);
    }
    event.Message(perfetto::kAnnotations, annotation);
  }
}

void PerfettoPackets::Event(int64_t at, const ProtoWriter& event) {
  ProtoWriter packet;
  packet.Signed(perfetto::kTimestamp, at);
  packet.Message(perfetto::kTrackEvent, event);
  Send(std::move(packet));
}

}  // namespace tacho

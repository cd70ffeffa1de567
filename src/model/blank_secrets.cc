#include "model/blank_secrets.h"

#include <span>
#include <vector>

#include "base/secret_names.h"
#include "base/secrets.h"

namespace tacho {
namespace {

std::span<char> BytesOf(std::string& text) { return {text.data(), text.size()}; }

// The slot of an argument whose key names a secret, and where its value stands in the stream of
// values.
struct SecretSlot {
  StringId key;
  uint32_t before = 0;  // number of values in the stream before it
};
using SecretSlots = std::vector<std::vector<SecretSlot>>;  // indexed by ArgsShapeId

// Blanks constant values in the string pool whose keys name a secret. Where such values differ from
// event to event, lists their slots. Blanking them changes no names of events, because the JSON
// text of a value includes its quotes and so is never the same string as a name.
size_t BlankConstants(Vocabulary& words, SecretSlots& slots) {
  size_t blanked = 0;
  slots.resize(words.args_shapes().size());
  for (size_t i = 0; i < slots.size(); ++i) {
    ArgsShape& shape = words[static_cast<ArgsShapeId>(i)];
    BlankSecretsInJson(BytesOf(shape.text));
    for (const ArgsShape::Entry& entry : shape.entries) {
      const std::string_view key = words[entry.key];
      if (HowNamed(key) == Named::kPlain) continue;
      if (entry.slot < 0) {
        blanked += BlankSecretValue(key, words.strings.Bytes(entry.constant));
        continue;
      }
      if (shape.slots[static_cast<size_t>(entry.slot)].home != SlotHome::kText) continue;
      SecretSlot slot{entry.key};
      for (int32_t before = 0; before < entry.slot; ++before) {
        slot.before += IsInStream(shape.slots[static_cast<size_t>(before)].home) ? 1 : 0;
      }
      slots[i].push_back(slot);
    }
  }
  return blanked;
}

size_t BlankSlots(Trace& trace, const SecretSlots& slots, const Column<ArgsRef>& rows) {
  size_t blanked = 0;
  for (const ArgsRef& args : rows.span()) {
    for (const SecretSlot& slot : slots[Index(args.shape)]) {
      const uint8_t* from = trace.arg_values.begin() + args.values;
      int64_t value = 0;
      for (uint32_t i = 0; i <= slot.before; ++i) from = ReadVarint(from, value);
      blanked += BlankSecretValue(trace.Text(slot.key),
                                  trace.words.strings.Bytes(static_cast<StringId>(value)));
    }
  }
  return blanked;
}

size_t BlankTexts(TraceBasics& basics) {
  size_t blanked = 0;
  for (size_t i = 1; i < basics.words.strings.size(); ++i) {
    blanked += BlankSecrets(basics.words.strings.Bytes(static_cast<StringId>(i)));
  }
  for (auto& [key, json] : basics.header.fields) blanked += BlankSecretValue(key, BytesOf(json));
  for (std::string& line : basics.header.producer_log) blanked += BlankSecrets(BytesOf(line));
  return blanked;
}

}  // namespace

size_t BlankSecretsOf(TraceBasics& basics) {
  SecretSlots unused;
  const size_t of_constants = BlankConstants(basics.words, unused);
  return of_constants + BlankTexts(basics);
}

size_t BlankSecretsOf(Trace& trace) {
  SecretSlots slots;
  size_t blanked = BlankConstants(trace.words, slots);
  bool has_slots = false;
  for (const auto& of_shape : slots) has_slots = has_slots || !of_shape.empty();
  if (has_slots) {
    for (const Column<ArgsRef>* const rows :
         {&trace.gpu.args, &trace.host_ops.args, &trace.annotations.args,
          &trace.gpu_annotations.args, &trace.host_calls.args, &trace.python_frames.args,
          &trace.others.args, &trace.instants.args, &trace.ranges.args}) {
      blanked += BlankSlots(trace, slots, *rows);
    }
  }
  return blanked + BlankTexts(trace);
}

}  // namespace tacho

#include "model/trace.h"

namespace tacho {
namespace {

// The values of an event's slots, in the order of the slots.
std::vector<int64_t> SlotValues(const Trace& trace, const ArgsOf& args) {
  const ArgsShape& shape = trace.words[args.ref.shape];
  std::vector<int64_t> values(shape.slots.size());
  const uint8_t* from = trace.arg_values.begin() + args.ref.values;
  for (size_t i = 0; i < values.size(); ++i) {
    switch (shape.slots[i].home) {
      case SlotHome::kCorrelation:
        values[i] = args.correlation;
        break;
      case SlotHome::kExternalId:
        values[i] = args.external_id;
        break;
      case SlotHome::kGraphNode:
        values[i] = args.graph_node;
        break;
      case SlotHome::kInteger:
      case SlotHome::kText:
        from = ReadVarint(from, values[i]);
        break;
    }
  }
  return values;
}

std::string SlotText(const Trace& trace, SlotHome home, int64_t value) {
  return home == SlotHome::kText ? std::string(trace.Text(static_cast<StringId>(value)))
                                 : std::to_string(value);
}

}  // namespace

size_t SliceTable::MemoryBytes() const {
  return start.MemoryBytes() + duration.MemoryBytes() + name.MemoryBytes() + track.MemoryBytes() +
         args.MemoryBytes();
}

size_t Trace::MemoryBytes() const {
  return words.MemoryBytes() + arg_values.MemoryBytes() + gpu.MemoryBytes() +
         gpu.kind.MemoryBytes() + gpu.stream.MemoryBytes() + gpu.correlation.MemoryBytes() +
         gpu.external_id.MemoryBytes() + gpu.graph.MemoryBytes() + gpu.graph_node.MemoryBytes() +
         gpu.launch.MemoryBytes() + host_ops.MemoryBytes() + host_ops.external_id.MemoryBytes() +
         annotations.MemoryBytes() + gpu_annotations.MemoryBytes() + host_calls.MemoryBytes() +
         host_calls.category.MemoryBytes() + host_calls.correlation.MemoryBytes() +
         python_frames.MemoryBytes() + others.MemoryBytes() + others.category.MemoryBytes() +
         instants.at.MemoryBytes() + instants.name.MemoryBytes() + instants.track.MemoryBytes() +
         instants.args.MemoryBytes() + ranges.start.MemoryBytes() + ranges.duration.MemoryBytes() +
         ranges.name.MemoryBytes() + ranges.category.MemoryBytes() + ranges.track.MemoryBytes() +
         ranges.args.MemoryBytes() + counters.metric.MemoryBytes() + counters.at.MemoryBytes() +
         counters.value.MemoryBytes() + flows.type.MemoryBytes() + flows.id.MemoryBytes() +
         flows.at.MemoryBytes() + flows.track.MemoryBytes();
}

ArgsOf GpuArgs(const Trace& trace, size_t row) {
  const GpuTable& gpu = trace.gpu;
  return {gpu.args[row], gpu.correlation[row], gpu.external_id[row], gpu.graph_node[row]};
}
ArgsOf HostOpArgs(const Trace& trace, size_t row) {
  return {trace.host_ops.args[row], -1, trace.host_ops.external_id[row]};
}
ArgsOf HostCallArgs(const Trace& trace, size_t row) {
  return {trace.host_calls.args[row], trace.host_calls.correlation[row], -1};
}

std::string ArgsText(const Trace& trace, const ArgsOf& args) {
  if (args.ref.shape == ArgsShapeId::kNone) return {};
  const ArgsShape& shape = trace.words[args.ref.shape];
  const std::vector<int64_t> values = SlotValues(trace, args);
  std::string out;
  size_t from = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    out.append(shape.text, from, shape.slots[i].at - from);
    out += SlotText(trace, shape.slots[i].home, values[i]);
    from = shape.slots[i].at;
  }
  out.append(shape.text, from);
  return out;
}

std::optional<std::string> ArgText(const Trace& trace, const ArgsOf& args, std::string_view key) {
  if (args.ref.shape == ArgsShapeId::kNone) return std::nullopt;
  const StringId wanted = trace.words.strings.Find(key);
  if (wanted == StringId::kEmpty) return std::nullopt;
  const ArgsShape& shape = trace.words[args.ref.shape];
  for (auto entry = shape.entries.rbegin(); entry != shape.entries.rend(); ++entry) {
    if (entry->key != wanted) continue;
    if (entry->slot < 0) return std::string(trace.Text(entry->constant));
    const auto slot = static_cast<size_t>(entry->slot);
    return SlotText(trace, shape.slots[slot].home, SlotValues(trace, args)[slot]);
  }
  return std::nullopt;
}

}  // namespace tacho

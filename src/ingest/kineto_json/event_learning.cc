// What EventDecoder learns from events that took the slow path: shapes, names, habits.
#include <algorithm>

#include "base/json_text.h"
#include "base/utf8.h"
#include "ingest/kineto_json/event_decoder.h"
#include "ingest/kineto_json/number.h"
#include "model/device_rows.h"

namespace tacho::kineto {
namespace {

// Words for memory as Kineto writes them: "Device Static" for "device_static".
std::string MemoryWords(std::string text) {
  bool begins = true;
  for (char& c : text) {
    if (c == '_') c = ' ';
    if (begins && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    begins = c == ' ';
  }
  return text;
}

// Forgets an earlier slot for the same argument: if a key is repeated, the last one counts.
void ForgetSlot(GpuArg arg, auto& slots, ArgsShape& args) {
  std::erase_if(slots, [&](const auto& slot) { return slot.arg == arg; });
  if (arg == GpuArg::kGraphNode) args.FreeColumn(SlotHome::kGraphNode);
}

// Stores a value that is the same in all events of a shape.
void TakeFixed(GpuArg arg, std::string_view json, Event& event, LaunchSizes& launch) {
  if (arg == GpuArg::kGraph) event.graph = JsonInteger(json).value_or(0);
  if (arg == GpuArg::kGraphNode) event.graph_node = JsonInteger(json).value_or(0);
  SetLaunchSize(arg, json, launch);
}

}  // namespace

// Remembers how the event begins and what follows its name.
void EventDecoder::LearnHabits(const ParsedEvent& event, const TemplatePart& tail) {
  const auto learn = [&](std::string_view text, std::vector<std::string_view>& list) {
    if (list.size() >= 16 || std::find(list.begin(), list.end(), text) != list.end()) return;
    list.push_back(raw_names_.View(raw_names_.Intern(text)));
  };
  const std::string_view bytes(event.begin, static_cast<size_t>(event.end - event.begin));
  const size_t quote = bytes.find('"');
  const size_t key_end = quote == std::string_view::npos ? quote : bytes.find('"', quote + 1);
  if (key_end < 64) learn(bytes.substr(0, key_end + 1), habits_.openings);
  if (!event.name.quoted) return;
  const std::string_view after(tail.bytes.data(), tail.segments.front().size);
  const size_t colon = after.find(':');
  if (colon != std::string_view::npos && colon > 3)
    learn(after.substr(0, colon + 1), habits_.after_names);
}

uint32_t EventDecoder::LearnHead(std::string_view key, TemplatePart part, bool has_name,
                                 bool may_match) {
  const auto [at, added] =
      head_ids_.try_emplace(std::string(key), static_cast<uint32_t>(heads_.size()));
  if (added) {
    learnt_bytes_ += 2 * key.size();
    heads_.push_back({std::move(part), has_name, kNone});
  }
  if (!may_match) return at->second;
  const auto found = std::find(recent_heads_.begin(), recent_heads_.end(), at->second);
  if (found != recent_heads_.end()) recent_heads_.erase(found);
  recent_heads_.insert(recent_heads_.begin(), at->second);
  if (recent_heads_.size() > 2 * kCandidates) recent_heads_.pop_back();
  return at->second;
}

uint32_t EventDecoder::LearnShape(const ParsedEvent& event, TemplatePart tail,
                                  const std::vector<Slot>& slots) {
  Shape shape;
  shape.tail = std::move(tail);
  Event& e = shape.prototype;
  shape.phase = event.Phase();
  e.type = TypeOfPhase(shape.phase);
  shape.lacks_start = !event.start && NeedsStart(e.type);
  for (const Slot& slot : slots) shape.slots |= SlotBit(slot.kind);
  if (arg_values_.size() < slots.size()) arg_values_.resize(slots.size());
  if (event.category) {
    e.category = words_.InternCategory(UnescapeJson(event.category.text()));
    e.has_category = true;
    e.kind = words_[e.category].kind;
  }
  shape.lacks_duration = e.type == EventType::kSlice && !event.duration;
  const StringId pid = words_.strings.Intern(UnescapeJson(event.pid.text()));
  const StringId tid = words_.strings.Intern(UnescapeJson(event.tid.text()));
  shape.pid = pid;
  shape.tid = tid;
  // A metadata event may have its track in slots; each such event then has its own.
  if (e.type != EventType::kMetadata) e.track = TrackOf(pid, tid);
  if (e.kind == SliceKind::kMemcpy) shape.copy_name = NameOfCopy(event);
  if (IsGpuWork(e.kind)) e.stream = ReadStream(event, {pid, tid});
  if (e.kind == SliceKind::kOther) ReadDeviceRow(event, e);
  if (event.MayHaveId() && event.id && !CanonicalInteger(event.id.text())) {
    e.id = TextId(event.id.text());
  }
  e.args = LearnArgs(event, slots, shape);
  shapes_.push_back(std::move(shape));
  return static_cast<uint32_t>(shapes_.size() - 1);
}

// torch's "cuspy" backend names every copy "Memcpy" and gives its kind in arguments. Returns the
// name that Kineto would write: "Memcpy DtoH (Device -> Pinned)" for the arguments "DtoH", "device"
// and "pinned". kEmpty if no argument gives a kind.
StringId EventDecoder::NameOfCopy(const ParsedEvent& event) {
  std::string kind, source, target;
  for (const ParsedEvent::Arg& arg : event.arg_list) {
    if (!arg.value.starts_with('"')) continue;
    if (arg.key == "copy kind") kind = JsonStringOrText(arg.value);
    if (arg.key == "src kind") source = MemoryWords(JsonStringOrText(arg.value));
    if (arg.key == "dst kind") target = MemoryWords(JsonStringOrText(arg.value));
  }
  if (kind.empty() || kind.find(' ') != std::string::npos) return StringId::kEmpty;
  plain_copy_ = words_.strings.Intern("Memcpy");
  std::string name = "Memcpy " + kind;
  if (!source.empty() && !target.empty()) name += " (" + source + " -> " + target + ")";
  return words_.strings.Intern(name);
}

// The stream of GPU work. What the event's arguments do not name is taken from `otherwise`.
StreamId EventDecoder::ReadStream(const ParsedEvent& event, Stream otherwise) {
  Stream stream = otherwise;
  StringId original = StringId::kEmpty;
  for (const ParsedEvent::Arg& arg : event.arg_list) {
    if (arg.value.empty() || arg.value == "null") continue;
    const auto value = [&] { return words_.strings.Intern(JsonStringOrText(arg.value)); };
    if (arg.key == "device") stream.device = value();
    if (arg.key == "stream") stream.stream = value();
    if (arg.key == kOriginalStream) original = value();
  }
  if (original != StringId::kEmpty) stream.stream = original;
  return words_.InternStream(stream.device, stream.stream);
}

// Sets what the arguments of a slice say about a device: the slice may be a row of that device.
void EventDecoder::ReadDeviceRow(const ParsedEvent& event, Event& row) {
  bool device = false, stream = false;
  for (const ParsedEvent::Arg& arg : event.arg_list) {
    if (arg.value.empty() || arg.value == "null") continue;
    device = device || arg.key == "device";
    stream = stream || arg.key == "stream";
    if (arg.key == kDeviceRowType)
      row.row_type = words_.strings.Intern(JsonStringOrText(arg.value));
  }
  row.names_device = device && stream;
}

ArgsShapeId EventDecoder::LearnArgs(const ParsedEvent& event, const std::vector<Slot>& slots,
                                    Shape& shape) {
  if (event.args.empty()) return ArgsShapeId::kNone;
  Event& e = shape.prototype;
  // Only the tables of slices have columns for ids.
  const bool is_slice = e.type == EventType::kSlice || e.type == EventType::kSliceBegin;
  const bool has_columns = wants_args_ && (IsGpuWork(e.kind) || e.kind == SliceKind::kOther);
  GpuSlots gpu;
  ArgsShape args;
  const char* from = event.args.data();
  const char* const end = from + event.args.size();
  auto slot = slots.begin();  // slots and arguments are both in the order of the text
  for (const ParsedEvent::Arg& arg : event.arg_list) {
    while (slot != slots.end() && slot->begin < arg.value.data()) ++slot;
    const StringId key = words_.strings.Intern(UnescapeJson(arg.key));
    const bool in_slot = slot != slots.end() && slot->begin == arg.value.data() &&
                         (slot->kind == SlotKind::kArgInteger || slot->kind == SlotKind::kArgText);
    const GpuArg gpu_arg = has_columns ? GpuArgOf(arg.key) : GpuArg::kNone;
    if (gpu_arg != GpuArg::kNone) ForgetSlot(gpu_arg, gpu.slots, args);
    if (!in_slot) {
      if (gpu_arg != GpuArg::kNone) TakeFixed(gpu_arg, arg.value, e, gpu.fixed);
      args.AddConstant(key, words_.strings.Intern(wants_args_ ? arg.value : std::string_view()));
      continue;
    }
    args.text.append(from, slot->begin);
    from = slot->end;
    const bool is_text = slot->kind == SlotKind::kArgText;
    const auto add = [&](SlotHome home) {
      return args.AddSlot(key, is_text ? SlotHome::kText : home);
    };
    if (gpu_arg != GpuArg::kNone) {
      const auto home = gpu_arg == GpuArg::kGraphNode && is_slice && IsGpuWork(e.kind)
                            ? SlotHome::kGraphNode
                            : SlotHome::kInteger;
      gpu.slots.push_back({gpu_arg, add(home), is_text});
      continue;
    }
    const auto add_id = [&](SlotHome column, bool has_column, int32_t& id, int32_t& text_id) {
      args.FreeColumn(column);
      id = add(is_slice && has_column ? column : SlotHome::kInteger);
      text_id = is_text ? id : -1;
    };
    if (arg.key == "correlation" || (arg.key == kDeviceRowLink && e.kind == SliceKind::kOther)) {
      add_id(SlotHome::kCorrelation, HasCorrelation(e.kind), shape.correlation,
             shape.text_correlation);
    } else if (arg.key == "External id" || arg.key == "external id") {
      add_id(SlotHome::kExternalId, HasExternalId(e.kind), shape.external_id,
             shape.text_external_id);
    } else {
      add(SlotHome::kInteger);
    }
  }
  args.text.append(from, end);
  e.launch = words_.InternLaunch(gpu.fixed);
  if (!gpu.slots.empty()) shape.gpu = std::make_unique<GpuSlots>(std::move(gpu));
  shape.args_slots = static_cast<uint32_t>(args.slots.size());
  if (shape.Has(SlotKind::kArgText)) shape.last_args.resize(shape.args_slots);
  if (!wants_args_ || e.type == EventType::kMetadata) return ArgsShapeId::kNone;
  return words_.AddArgsShape(std::move(args));
}

uint32_t EventDecoder::FindName(uint32_t head, std::string_view raw, bool add) {
  const auto hash = static_cast<uint32_t>(HashBytes(raw) ^ (head * uint64_t{0x9e3779b97f4a7c15}));
  const size_t mask = name_table_.size() - 1;
  size_t slot = hash & mask;
  for (; name_table_[slot] != 0; slot = (slot + 1) & mask) {
    const Name& name = names_[name_table_[slot] - 1];
    if (name.hash == hash && name.head == head && name.raw == raw) return name_table_[slot] - 1;
  }
  if (!add) return kNone;
  Name name;
  name.raw = raw_names_.View(raw_names_.Intern(raw));
  name.hash = hash;
  name.head = head;
  name.shapes.fill(kNone);
  const bool escaped = raw.find('\\') != std::string_view::npos;
  name.id = words_.strings.Intern(escaped ? UnescapeJson(raw) : raw);
  names_.push_back(name);
  learnt_bytes_ += raw.size() + sizeof(Name);
  name_table_[slot] = static_cast<uint32_t>(names_.size());
  if (names_.size() * 2 > name_table_.size()) GrowNames();
  return static_cast<uint32_t>(names_.size() - 1);
}

void EventDecoder::GrowNames() {
  name_table_.assign(name_table_.size() * 2, 0);
  const size_t mask = name_table_.size() - 1;
  for (uint32_t i = 0; i < names_.size(); ++i) {
    size_t slot = names_[i].hash & mask;
    while (name_table_[slot] != 0) slot = (slot + 1) & mask;
    name_table_[slot] = i + 1;
  }
}

// Forgets everything learnt except words and habits. Habits stay so that damaged events are read
// the same before and after.
void EventDecoder::Forget() {
  heads_.clear();
  recent_heads_.clear();
  head_ids_.clear();
  shapes_.clear();
  shape_ids_.clear();
  names_.clear();
  name_table_.assign(256, 0);
  StringPool kept;
  for (auto* const list : {&habits_.openings, &habits_.after_names}) {
    for (std::string_view& text : *list) text = kept.View(kept.Intern(text));
  }
  raw_names_ = std::move(kept);
  arg_values_seen_.clear();
  learnt_bytes_ = 0;
  guesses_.fill({});
  guess_ = &guesses_[0];
}

}  // namespace tacho::kineto

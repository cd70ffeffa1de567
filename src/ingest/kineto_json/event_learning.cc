// The slow path of EventDecoder: events are taken apart, and their shapes learnt.
#include <algorithm>

#include "base/json_text.h"
#include "base/utf8.h"
#include "ingest/kineto_json/event_decoder.h"
#include "ingest/kineto_json/number.h"

namespace tacho::kineto {
namespace {

// Kineto prints these ids and amounts anew for each event; giving them a slot at once saves
// learning it.
constexpr std::string_view kVolatileArgs[] = {"External id",
                                              "external id",
                                              "correlation",
                                              "Ev Idx",
                                              "Record function id",
                                              "Python id",
                                              "Python parent id",
                                              "Python module id",
                                              "Sequence number",
                                              "Addr",
                                              "Bytes",
                                              "bytes",
                                              "Total Allocated",
                                              "Total Reserved",
                                              "memory bandwidth (GB/s)",
                                              "Comms Id",
                                              "Seq",
                                              "Profiler Event Index",
                                              "Trace iteration",
                                              "event_id",
                                              "wait_on_cuda_event_record_corr_id",
                                              "wait_on_cuda_event_id",
                                              "graph node id",
                                              "ptr",
                                              "Op count"};

// These name the stream that an event belongs to and must be the shape's own.
constexpr std::string_view kFixedArgs[] = {"device", "stream"};

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view key) {
  return std::find(std::begin(list), std::end(list), key) != std::end(list);
}

// Chrome's letter, "?" for anything that is none.
char PhaseOf(const ParsedEvent& event) {
  const std::string_view text = event.phase ? event.phase.text() : std::string_view();
  return text.size() == 1 && text[0] > ' ' && text[0] < 127 ? text[0] : '?';
}

// Events of Chrome's flow and asynchronous phases carry an id.
bool HasFlowId(char phase) {
  return std::string_view("stfbneNDO").find(phase) != std::string_view::npos;
}

std::string KeyOf(const TemplatePart& part, uint32_t prefix) {
  std::string key = std::to_string(prefix) + ':';
  for (const Segment& segment : part.segments) {
    key.append(part.bytes, segment.begin, segment.size);
    key.push_back('\0');
    key.push_back(static_cast<char>(segment.slot));
  }
  return key;
}

}  // namespace

Scan EventDecoder::DecodeSlow(Cursor& c) {
  ParsedEvent event;
  const Scan scan = ParseEvent(c, habits_, options_.runaway_bytes, event);
  if (scan != Scan::kOk) return scan;
  ++slow_events_;
  // The fast path takes the first quote that ends a string: it must not learn from repaired ones.
  const bool may_match = !event.repaired;
  if (event.repaired) notes_.Add(NoteId::kRepairedName, Where());

  values_ = {};
  const char phase = PhaseOf(event);
  const bool has_category = static_cast<bool>(event.category);
  const CategoryId category =
      has_category ? words_.InternCategory(UnescapeJson(event.category.text())) : CategoryId{};
  const std::vector<Slot> slots = FindSlots(event, phase, category, has_category);

  // Cut the event at its name and its slots.
  TemplatePart head, tail;
  TemplatePart* part = &head;
  const char* from = event.begin;
  const auto close = [&](const char* to, SlotKind kind) {
    part->segments.push_back(
        {static_cast<uint32_t>(part->bytes.size()), static_cast<uint32_t>(to - from), kind});
    part->bytes.append(from, to);
  };
  bool name_passed = !event.name;
  for (const Slot& slot : slots) {
    if (!name_passed && slot.begin > event.name.begin) {
      close(event.name.begin, SlotKind::kEnd);
      part = &tail;
      from = event.name.end;
      name_passed = true;
    }
    close(slot.begin, slot.kind);
    from = slot.end;
  }
  if (!name_passed) {
    close(event.name.begin, SlotKind::kEnd);
    part = &tail;
    from = event.name.end;
  }
  close(event.end, SlotKind::kEnd);
  head.bytes.append(16, '\0');
  tail.bytes.append(16, '\0');

  const std::string head_key = KeyOf(head, event.name ? 1 : 0);
  const uint32_t head_id =
      LearnHead(head_key, std::move(head), static_cast<bool>(event.name), may_match);
  if (may_match) LearnHabits(event, tail);
  const std::string key = KeyOf(tail, head_id);
  const auto known = shape_ids_.find(key);
  uint32_t shape;
  if (known != shape_ids_.end()) {
    shape = known->second;
  } else {
    learnt_bytes_ += 2 * key.size();
    shape = LearnShape(event, std::move(tail), slots);
    shape_ids_.emplace(key, shape);
    if (!event.name && may_match) heads_[head_id].only_shape = shape;
  }

  // The values, by the parsed fields: what the fast path would refuse is read here all the same.
  for (const Slot& slot : slots) {
    const std::string_view text(slot.begin, static_cast<size_t>(slot.end - slot.begin));
    switch (slot.kind) {
      case SlotKind::kArgInteger:
      case SlotKind::kArgText:
        AddArgValue(slot.kind == SlotKind::kArgInteger ? *CanonicalInteger(text) : TextValue(text));
        break;
      case SlotKind::kFlowId:
        values_.flow_id = *CanonicalInteger(text);
        break;
      case SlotKind::kPid:
        values_.pid = words_.strings.Intern(text);
        break;
      case SlotKind::kTid:
        values_.tid = words_.strings.Intern(text);
        break;
      case SlotKind::kMetadata:
        values_.metadata = words_.strings.Intern(JsonStringOrText(text));
        break;
      default:
        break;
    }
  }
  ReadTimes(event);

  if (may_match) {
    uint32_t name = kNone;
    if (event.name) {
      const size_t before = names_.size();
      name = FindName(head_id, event.name.text(), true);
      if (names_.size() != before && !IsUtf8(words_.strings.View(names_[name].id)) &&
          invalid_names_.insert(names_[name].id).second) {
        notes_.Add(NoteId::kInvalidUtf8, Where());
      }
      Remember(name, shape);
    }
    Follow(head_id, name, shape);
  }
  Emit(words_.strings.Intern(UnescapeJson(event.name.text())), shape);
  if (learnt_bytes_ > (wants_args_ ? options_.learnt_bytes : options_.learnt_bytes_without_args)) {
    Forget();
  }
  return Scan::kOk;
}

// Remembers how the event begins and what follows its name.
void EventDecoder::LearnHabits(const ParsedEvent& event, const TemplatePart& tail) {
  const auto learn = [&](std::string_view text, std::vector<std::string_view>& list) {
    if (list.size() >= 16 || std::find(list.begin(), list.end(), text) != list.end()) return;
    list.push_back(raw_names_.View(raw_names_.Intern(text)));
  };
  const std::string_view bytes(event.begin, static_cast<size_t>(event.end - event.begin));
  const size_t quote = bytes.find('"');
  const size_t key_end = quote == std::string_view::npos ? quote : bytes.find('"', quote + 1);
  if (key_end != std::string_view::npos && key_end < 64) {
    learn(bytes.substr(0, key_end + 1), habits_.openings);
  }
  if (!event.name.quoted) return;
  const std::string_view after(tail.bytes.data(), tail.segments.front().size);
  const size_t colon = after.find(':');
  if (colon != std::string_view::npos && colon > 3)
    learn(after.substr(0, colon + 1), habits_.after_names);
}

void EventDecoder::ReadTimes(const ParsedEvent& event) {
  const auto read = [&](const Field& field, int64_t& ns) {
    if (!field) return true;
    const auto time = ParseMicroseconds(field.text());
    if (!time) return false;
    if (!time->plain) notes_.Add(NoteId::kOddNumber, Where());
    ns = time->ns;
    return true;
  };
  bool good = read(event.start, values_.start_ns);
  good = read(event.duration, values_.duration_ns) && good;
  if (values_.duration_ns < 0) {
    notes_.Add(NoteId::kNegativeDuration, Where());
    values_.duration_ns = 0;
  }
  // Sums of times this far off would overflow: no profiler's clock is there.
  good = good && values_.start_ns <= INT64_MAX / 4 && values_.start_ns >= INT64_MIN / 4 &&
         values_.duration_ns <= kLongestDuration;
  if (!good) notes_.Add(NoteId::kBadTime, Where());
  values_.has_start = good && event.start;
}

std::vector<EventDecoder::Slot> EventDecoder::FindSlots(const ParsedEvent& event, char phase,
                                                        CategoryId category, bool has_category) {
  std::vector<Slot> slots;
  const auto add = [&](const Field& field, SlotKind kind) {
    if (field) slots.push_back({field.begin, field.end, kind});
  };
  add(event.start, SlotKind::kStart);
  add(event.duration, SlotKind::kDuration);
  if (HasFlowId(phase) && event.id && CanonicalInteger(event.id.text()))
    add(event.id, SlotKind::kFlowId);
  if (phase == 'M') {
    if (event.pid && CanonicalInteger(event.pid.text())) add(event.pid, SlotKind::kPid);
    if (event.tid && CanonicalInteger(event.tid.text())) add(event.tid, SlotKind::kTid);
    for (auto arg = event.arg_list.rbegin(); arg != event.arg_list.rend(); ++arg) {
      if (arg->value.empty() || (arg->key != "name" && arg->key != "labels")) continue;
      slots.push_back(
          {arg->value.data(), arg->value.data() + arg->value.size(), SlotKind::kMetadata});
      break;
    }
  } else {
    for (const ParsedEvent::Arg& arg : event.arg_list) {
      const SlotKind kind = ArgSlot(arg, has_category ? category : CategoryId{255});
      if (kind == SlotKind::kEnd) continue;
      slots.push_back({arg.value.data(), arg.value.data() + arg.value.size(), kind});
    }
  }
  std::sort(slots.begin(), slots.end(),
            [](const Slot& a, const Slot& b) { return a.begin < b.begin; });
  return slots;
}

// The slot that an argument gets, kEnd for none: its value is then part of the shape.
SlotKind EventDecoder::ArgSlot(const ParsedEvent::Arg& arg, CategoryId category) {
  if (arg.value.empty() || Contains(kFixedArgs, arg.key)) return SlotKind::kEnd;
  const SlotKind slot = SlotOfVaryingArg(arg.value);
  if (slot == SlotKind::kEnd) return slot;
  if (!Contains(kVolatileArgs, arg.key)) {
    const uint64_t id = HashBytes(arg.key) * 256 + Index(category);
    if (!volatile_args_.contains(id)) {
      std::unordered_set<uint64_t>& seen = arg_values_seen_[id];
      seen.insert(HashBytes(arg.value));
      if (seen.size() <= options_.many_arg_values) return SlotKind::kEnd;
      volatile_args_.insert(id);
      arg_values_seen_.erase(id);
    }
  }
  return slot;
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
  e.phase = PhaseOf(event);
  shape.lacks_start = !event.start && (e.phase == 'X' || e.phase == 'B' || e.phase == 'E');
  for (const Slot& slot : slots) shape.slots |= SlotBit(slot.kind);
  if (arg_values_.size() < slots.size()) arg_values_.resize(slots.size());
  if (event.category) {
    e.category = words_.InternCategory(UnescapeJson(event.category.text()));
    e.has_category = true;
    e.kind = words_[e.category].kind;
  }
  shape.lacks_duration = e.phase == 'X' && !event.duration;
  const StringId pid = words_.strings.Intern(UnescapeJson(event.pid.text()));
  const StringId tid = words_.strings.Intern(UnescapeJson(event.tid.text()));
  shape.pid = pid;
  shape.tid = tid;
  // A metadata event's track may stand in slots and is made when it is known.
  if (e.phase != 'M') e.track = words_.InternTrack(pid, tid);
  if (IsGpuWork(e.kind)) {
    StringId device = pid, stream = tid;
    for (const ParsedEvent::Arg& arg : event.arg_list) {
      if (arg.value.empty() || arg.value == "null") continue;
      if (arg.key == "device") device = words_.strings.Intern(JsonStringOrText(arg.value));
      if (arg.key == "stream") stream = words_.strings.Intern(JsonStringOrText(arg.value));
    }
    e.stream = words_.InternStream(device, stream);
  }
  if (HasFlowId(e.phase) && event.id && !CanonicalInteger(event.id.text())) {
    e.flow_id = TextId(event.id.text());
  }
  e.args = LearnArgs(event, e.kind, slots, shape);
  shapes_.push_back(std::move(shape));
  return static_cast<uint32_t>(shapes_.size() - 1);
}

ArgsShapeId EventDecoder::LearnArgs(const ParsedEvent& event, SliceKind kind,
                                    const std::vector<Slot>& slots, Shape& shape) {
  if (event.args.empty()) return ArgsShapeId::kNone;
  ArgsShape args{.kind = kind};
  const char* from = event.args.data();
  const char* const end = from + event.args.size();
  for (const Slot& slot : slots) {
    if (slot.kind != SlotKind::kArgInteger && slot.kind != SlotKind::kArgText) continue;
    args.text.append(from, slot.begin);
    from = slot.end;
    args.slots.push_back(
        {static_cast<uint32_t>(args.text.size()),
         slot.kind == SlotKind::kArgInteger ? SlotHome::kInteger : SlotHome::kText});
  }
  args.text.append(from, end);
  // Only slices have rows with columns for ids.
  const bool is_slice = shape.prototype.phase == 'X' || shape.prototype.phase == 'B';
  const bool on_gpu = is_slice && IsGpuWork(kind);
  // Both lists are in the order of the text.
  auto slot = slots.begin();
  int32_t next_slot = 0;
  for (const ParsedEvent::Arg& arg : event.arg_list) {
    while (slot != slots.end() && slot->begin < arg.value.data()) ++slot;
    ArgsShape::Entry entry{words_.strings.Intern(UnescapeJson(arg.key))};
    const bool in_slot = slot != slots.end() && slot->begin == arg.value.data() &&
                         (slot->kind == SlotKind::kArgInteger || slot->kind == SlotKind::kArgText);
    if (!in_slot) {
      entry.constant = words_.strings.Intern(wants_args_ ? arg.value : std::string_view());
      args.entries.push_back(entry);
      continue;
    }
    entry.slot = next_slot++;
    // Of equal keys the last wins: an earlier one goes back to the stream.
    const auto take = [&](int32_t& id, int32_t& text_id, SlotHome home, bool has_column) {
      const bool is_text = slot->kind == SlotKind::kArgText;
      if (id >= 0 && id != text_id) args.slots[static_cast<size_t>(id)].home = SlotHome::kInteger;
      id = entry.slot;
      text_id = is_text ? entry.slot : -1;
      if (!is_text && has_column) args.slots[static_cast<size_t>(entry.slot)].home = home;
    };
    if (arg.key == "correlation") {
      take(shape.correlation, shape.text_correlation, SlotHome::kCorrelation,
           on_gpu || (is_slice && kind == SliceKind::kHostCall));
    } else if (arg.key == "External id" || arg.key == "external id") {
      take(shape.external_id, shape.text_external_id, SlotHome::kExternalId,
           on_gpu || (is_slice && kind == SliceKind::kHostOp));
    }
    args.entries.push_back(entry);
  }
  shape.args_slots = static_cast<uint32_t>(args.slots.size());
  if (shape.Has(SlotKind::kArgText)) shape.last_args.resize(shape.args_slots);
  if (!wants_args_ || event.phase.text() == "M") return ArgsShapeId::kNone;
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

// Starts anew, keeping only the words and the habits: damage is read the same before and after.
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

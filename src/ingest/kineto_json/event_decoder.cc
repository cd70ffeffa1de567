#include "ingest/kineto_json/event_decoder.h"

#include <algorithm>

#include "base/json_text.h"
#include "ingest/kineto_json/number.h"

namespace tacho::kineto {
namespace {

// Kineto prints these ids and amounts anew for each event; giving them a slot at once saves learning it.
constexpr std::string_view kVolatileArgs[] = {
    "External id", "external id", "correlation", "Ev Idx", "Record function id", "Python id",
    "Python parent id", "Sequence number", "Addr", "Bytes", "bytes", "Total Allocated", "Total Reserved",
    "memory bandwidth (GB/s)", "Comms Id", "Seq", "Profiler Event Index", "Trace iteration", "event_id",
    "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_id", "graph node id", "ptr", "Op count"};

// These name the stream that an event belongs to and must be the shape's own.
constexpr std::string_view kFixedArgs[] = {"device", "stream"};

// More values of an argument than this among the learnt shapes of a category, and it gets a slot.
constexpr size_t kManyValues = 48;

// Learnt bytes beyond which a decoder starts anew: bounds its memory where no two events are alike.
constexpr size_t kForgetBytes = size_t{256} << 20;
constexpr size_t kForgetBytesWithoutArgs = size_t{8} << 20;

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view key) {
  return std::find(std::begin(list), std::end(list), key) != std::end(list);
}

bool IsCanonicalInteger(std::string_view text) {
  if (text.empty() || text.size() > 19) return false;
  char padded[40] = {};
  std::copy(text.begin(), text.end(), padded);
  int64_t value = 0;
  return ReadCanonicalInteger(padded, value) == padded + text.size();
}

int64_t CanonicalInteger(std::string_view text) {
  char padded[40] = {};
  std::copy(text.begin(), text.end(), padded);
  int64_t value = 0;
  ReadCanonicalInteger(padded, value);
  return value;
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

EventDecoder::EventDecoder(EventSink& sink, Notes& notes, Options options)
    : sink_(sink),
      words_(sink.vocabulary()),
      notes_(notes),
      options_(options),
      wants_args_(sink.wants_args()),
      name_table_(256, 0) {}

Scan EventDecoder::Decode(Cursor& c, uint64_t offset) {
  if (options_.fast_path && DecodeFast(c)) {
    ++fast_events_;
    return Scan::kOk;
  }
  return DecodeSlow(c, offset);
}

// ---- the fast path ----------------------------------------------------------------------------

bool EventDecoder::DecodeFast(Cursor& c) {
  uint32_t head = kNone;
  const char* p = MatchHead(c.p, c.end, head);
  if (p == nullptr) return false;
  const Scalars of_head = values_;

  if (!heads_[head].has_name) {
    const uint32_t only = heads_[head].only_shape;
    if (only == kNone) return false;
    Follow(head, kNone, only);
    Emit(kNone, only);
    c.p = p;
    return true;
  }

  // The name: the one that came here last time, if it is that, without looking for its end.
  uint32_t name = kNone, expected = kNone;
  if (guess_->name != kNone && names_[guess_->name].head == head) {
    const std::string_view raw = names_[guess_->name].raw;
    if (raw.size() < static_cast<size_t>(c.end - p) && p[raw.size()] == '"' &&
        SameBytes(p, raw.data(), raw.size())) {
      name = guess_->name;
      expected = guess_->shape;
      p += raw.size();
    }
  }
  if (name == kNone) {
    const char* end = p;
    for (;;) {
      end = FindQuoteOrBackslash(end, c.end);
      if (c.end - end < 2) return false;
      if (*end == '"') break;
      end += 2;
    }
    name = FindName(head, {p, static_cast<size_t>(end - p)}, false);
    if (name == kNone) return false;
    p = end;
  }

  const auto attempt = [&](uint32_t shape) {
    values_ = of_head;
    const char* const end = MatchPart(shapes_[shape].tail, p, c.end);
    if (end == nullptr) return false;
    Remember(name, shape);
    Follow(head, name, shape);
    Emit(name, shape);
    c.p = end;
    return true;
  };
  const std::vector<uint32_t>& candidates = names_[name].shapes;
  if (expected != kNone && attempt(expected)) return true;
  const uint32_t again = candidates.empty() ? kNone : shapes_[candidates.front()].next_same_name;
  if (again != kNone && again != expected && attempt(again)) return true;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const uint32_t shape = candidates[i];
    if (shape != expected && shape != again && attempt(shape)) return true;
  }
  return false;
}

const char* EventDecoder::MatchHead(const char* p, const char* end, uint32_t& head) {
  const uint32_t expected = guess_->head;
  values_ = {};
  if (expected != kNone) {
    if (const char* const behind = MatchPart(heads_[expected].part, p, end)) {
      head = expected;
      return behind;
    }
  }
  for (size_t i = 0; i < recent_heads_.size(); ++i) {
    const uint32_t candidate = recent_heads_[i];
    if (candidate == expected) continue;
    values_ = {};
    if (const char* const behind = MatchPart(heads_[candidate].part, p, end)) {
      std::rotate(recent_heads_.begin(), recent_heads_.begin() + static_cast<ptrdiff_t>(i),
                  recent_heads_.begin() + static_cast<ptrdiff_t>(i) + 1);
      head = candidate;
      return behind;
    }
  }
  return nullptr;
}

const char* EventDecoder::MatchPart(const TemplatePart& part, const char* p, const char* end) {
  const char* const bytes = part.bytes.data();
  for (const Segment& segment : part.segments) {
    if (end - p < static_cast<ptrdiff_t>(segment.size) ||
        !SameBytes(p, bytes + segment.begin, segment.size)) {
      return nullptr;
    }
    p += segment.size;
    // A number that runs beyond `end` fails at the next stretch of fixed bytes.
    switch (segment.slot) {
      case SlotKind::kEnd: return p;
      case SlotKind::kArgInteger: {
        int64_t value = 0;
        p = ReadCanonicalInteger(p, value);
        AddArgValue(value);
        break;
      }
      case SlotKind::kStart:
        p = ReadPlainMicroseconds(p, values_.start_ns);
        values_.has_start = true;
        break;
      case SlotKind::kDuration: p = ReadPlainMicroseconds(p, values_.duration_ns); break;
      case SlotKind::kFlowId: p = ReadCanonicalInteger(p, values_.flow_id); break;
      default: p = ReadTextSlot(segment.slot, p, end);
    }
    if (p == nullptr) return nullptr;
  }
  return nullptr;
}

// Reads a slot that is no number; the fixed bytes behind it decide whether it ended where it should.
const char* EventDecoder::ReadTextSlot(SlotKind kind, const char* p, const char* end) {
  switch (kind) {
    case SlotKind::kPid:
    case SlotKind::kTid: {
      int64_t value = 0;
      const char* const behind = ReadCanonicalInteger(p, value);
      if (behind == nullptr || behind > end) return nullptr;
      const StringId id = words_.strings.Intern({p, static_cast<size_t>(behind - p)});
      (kind == SlotKind::kPid ? values_.pid : values_.tid) = id;
      return behind;
    }
    case SlotKind::kMetadata: {
      const char* const behind = SkipStrictValue(p, end);
      if (behind == nullptr) return nullptr;
      values_.metadata = words_.strings.Intern(JsonStringOrText({p, static_cast<size_t>(behind - p)}));
      return behind;
    }
    case SlotKind::kArgText: {
      const char* const behind = SkipStrictValue(p, end);
      if (behind == nullptr) return nullptr;
      const std::string_view text(p, static_cast<size_t>(behind - p));
      // An integer here would be another shape in the slow path.
      if (IsCanonicalInteger(text) || text == "null" || text == "true" || text == "false") return nullptr;
      AddArgValue(wants_args_ ? static_cast<int64_t>(words_.strings.Intern(text)) : 0);
      return behind;
    }
    default: return nullptr;
  }
}

// ---- the slow path ----------------------------------------------------------------------------

Scan EventDecoder::DecodeSlow(Cursor& c, uint64_t offset) {
  ParsedEvent event;
  const Scan scan = ParseEvent(c, after_names_, event);
  if (scan != Scan::kOk) return scan;
  ++slow_events_;
  const std::string where = "byte " + std::to_string(offset);
  if (event.repaired) notes_.Add(NoteId::kRepairedName, where);

  values_ = {};
  const char phase = event.phase && event.phase.begin != event.phase.end ? *event.phase.begin : '?';
  const bool has_category = static_cast<bool>(event.category);
  const CategoryId category =
      has_category ? words_.InternCategory(UnescapeJson(event.category.text())) : CategoryId{};
  const std::vector<Slot> slots = FindSlots(event, phase, category, has_category);

  // Cut the event at its name and its slots.
  TemplatePart head, tail;
  TemplatePart* part = &head;
  const char* from = event.begin;
  const auto close = [&](const char* to, SlotKind kind) {
    part->segments.push_back({static_cast<uint32_t>(part->bytes.size()), static_cast<uint32_t>(to - from), kind});
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
  const uint32_t head_id = LearnHead(head_key, std::move(head), static_cast<bool>(event.name));
  if (event.name && event.name.quoted && after_names_.size() < 64) {
    // What follows names here: up to the first value, so that it is the same for many events.
    std::string_view after(tail.bytes.data(), tail.segments.front().size);
    const size_t colon = after.find(':');
    after = after.substr(0, colon == std::string_view::npos ? 0 : colon + 1);
    if (after.size() > 4) {
      after = raw_names_.View(raw_names_.Intern(after));
      if (std::find(after_names_.begin(), after_names_.end(), after) == after_names_.end()) {
        after_names_.push_back(after);
      }
    }
  }
  const std::string key = KeyOf(tail, head_id);
  const auto known = shape_ids_.find(key);
  uint32_t shape;
  if (known != shape_ids_.end()) {
    shape = known->second;
  } else {
    learnt_bytes_ += 2 * key.size();
    shape = LearnShape(event, std::move(tail), slots);
    shape_ids_.emplace(key, shape);
    if (!event.name) heads_[head_id].only_shape = shape;
  }

  // The values, by the parsed fields: what the fast path would refuse is read here all the same.
  for (const Slot& slot : slots) {
    const std::string_view text(slot.begin, static_cast<size_t>(slot.end - slot.begin));
    switch (slot.kind) {
      case SlotKind::kArgInteger:
      case SlotKind::kArgText:
        AddArgValue(slot.kind == SlotKind::kArgInteger ? CanonicalInteger(text)
                    : wants_args_                      ? static_cast<int64_t>(words_.strings.Intern(text))
                                                       : 0);
        break;
      case SlotKind::kFlowId: values_.flow_id = CanonicalInteger(text); break;
      case SlotKind::kPid: values_.pid = words_.strings.Intern(text); break;
      case SlotKind::kTid: values_.tid = words_.strings.Intern(text); break;
      case SlotKind::kMetadata: values_.metadata = words_.strings.Intern(JsonStringOrText(text)); break;
      default: break;
    }
  }
  ReadTimes(event, where);
  if (phase == 'X' && !event.duration) notes_.Add(NoteId::kMissingDuration, where);

  uint32_t name = kNone;
  if (event.name) {
    const size_t before = names_.size();
    name = FindName(head_id, event.name.text(), true);
    if (names_.size() != before && !IsUtf8(words_.strings.View(names_[name].id))) {
      notes_.Add(NoteId::kInvalidUtf8, where);
    }
    Remember(name, shape);
  }
  Follow(head_id, name, shape);
  Emit(name, shape);
  if (learnt_bytes_ > (wants_args_ ? kForgetBytes : kForgetBytesWithoutArgs)) Forget();
  return Scan::kOk;
}

void EventDecoder::ReadTimes(const ParsedEvent& event, const std::string& where) {
  if (event.start) {
    if (const auto start = ParseMicroseconds(event.start.text())) {
      values_.start_ns = start->ns;
      values_.has_start = true;
      if (!start->plain) notes_.Add(NoteId::kOddNumber, where);
    } else {
      notes_.Add(NoteId::kBadTime, where);
    }
  }
  if (event.duration) {
    const auto duration = ParseMicroseconds(event.duration.text());
    if (!duration) {
      values_.has_start = false;
      notes_.Add(NoteId::kBadTime, where);
    } else {
      if (!duration->plain) notes_.Add(NoteId::kOddNumber, where);
      if (duration->ns < 0) notes_.Add(NoteId::kNegativeDuration, where);
      values_.duration_ns = std::max<int64_t>(duration->ns, 0);
    }
  }
  // An end beyond int64 would overflow every sum: no profiler's clock is there.
  if (values_.start_ns > INT64_MAX / 4 || values_.start_ns < INT64_MIN / 4 ||
      values_.duration_ns > INT64_MAX / 4) {
    values_.has_start = false;
    notes_.Add(NoteId::kBadTime, where);
  }
}

std::vector<EventDecoder::Slot> EventDecoder::FindSlots(const ParsedEvent& event, char phase,
                                                        CategoryId category, bool has_category) {
  std::vector<Slot> slots;
  const auto add = [&](const Field& field, SlotKind kind) {
    if (field) slots.push_back({field.begin, field.end, kind});
  };
  add(event.start, SlotKind::kStart);
  add(event.duration, SlotKind::kDuration);
  if (HasFlowId(phase) && event.id && IsCanonicalInteger(event.id.text())) add(event.id, SlotKind::kFlowId);
  if (phase == 'M') {
    if (event.pid && IsCanonicalInteger(event.pid.text())) add(event.pid, SlotKind::kPid);
    if (event.tid && IsCanonicalInteger(event.tid.text())) add(event.tid, SlotKind::kTid);
    for (auto arg = event.arg_list.rbegin(); arg != event.arg_list.rend(); ++arg) {
      if (arg->value.empty() || (arg->key != "name" && arg->key != "labels")) continue;
      slots.push_back({arg->value.data(), arg->value.data() + arg->value.size(), SlotKind::kMetadata});
      break;
    }
  } else {
    for (const ParsedEvent::Arg& arg : event.arg_list) {
      const SlotKind kind = ArgSlot(arg, has_category ? category : CategoryId{255});
      if (kind == SlotKind::kEnd) continue;
      slots.push_back({arg.value.data(), arg.value.data() + arg.value.size(), kind});
    }
  }
  std::sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.begin < b.begin; });
  return slots;
}

// The slot that an argument gets, kEnd for none: its value is then part of the shape.
SlotKind EventDecoder::ArgSlot(const ParsedEvent::Arg& arg, CategoryId category) {
  if (arg.value.empty() || Contains(kFixedArgs, arg.key)) return SlotKind::kEnd;
  if (arg.value == "null" || arg.value == "true" || arg.value == "false") return SlotKind::kEnd;
  if (!Contains(kVolatileArgs, arg.key)) {
    const uint64_t id = HashBytes(arg.key) * 256 + Index(category);
    if (!volatile_args_.contains(id)) {
      std::unordered_set<uint64_t>& seen = arg_values_seen_[id];
      seen.insert(HashBytes(arg.value));
      if (seen.size() <= kManyValues) return SlotKind::kEnd;
      volatile_args_.insert(id);
      arg_values_seen_.erase(id);
    }
  }
  return IsCanonicalInteger(arg.value) ? SlotKind::kArgInteger : SlotKind::kArgText;
}

uint32_t EventDecoder::LearnHead(std::string_view key, TemplatePart part, bool has_name) {
  const auto [at, added] = head_ids_.try_emplace(std::string(key), static_cast<uint32_t>(heads_.size()));
  if (added) {
    learnt_bytes_ += 2 * key.size();
    heads_.push_back({std::move(part), has_name, kNone});
  }
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
  if (event.phase && event.phase.begin != event.phase.end) e.phase = *event.phase.begin;
  else e.phase = '?';
  if (event.category) {
    e.category = words_.InternCategory(UnescapeJson(event.category.text()));
    e.has_category = true;
    e.kind = words_[e.category].kind;
  }
  const StringId pid = words_.strings.Intern(UnescapeJson(event.pid.text()));
  const StringId tid = words_.strings.Intern(UnescapeJson(event.tid.text()));
  shape.pid = pid;
  shape.tid = tid;
  // A metadata event's track may stand in slots and is made when it is known.
  if (e.phase != 'M') e.track = words_.InternTrack(pid, tid);
  if (IsGpuWork(e.kind)) {
    StringId device = pid, stream = tid;
    for (const ParsedEvent::Arg& arg : event.arg_list) {
      if (arg.value.empty()) continue;
      if (arg.key == "device") device = words_.strings.Intern(JsonStringOrText(arg.value));
      if (arg.key == "stream") stream = words_.strings.Intern(JsonStringOrText(arg.value));
    }
    e.stream = words_.InternStream(device, stream);
  }
  if (HasFlowId(e.phase) && event.id && !IsCanonicalInteger(event.id.text())) {
    // A textual id: any number that is the same for the same text, outside of the numeric ids.
    e.flow_id = INT64_MIN + static_cast<int64_t>(Index(words_.strings.Intern(event.id.text())));
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
    args.slots.push_back({static_cast<uint32_t>(args.text.size()),
                          slot.kind == SlotKind::kArgInteger ? SlotHome::kInteger : SlotHome::kText});
  }
  args.text.append(from, end);
  const bool on_gpu = IsGpuWork(kind);
  size_t next_slot = 0;
  for (const ParsedEvent::Arg& arg : event.arg_list) {
    ArgsShape::Entry entry{words_.strings.Intern(UnescapeJson(arg.key))};
    const bool in_slot = next_slot < args.slots.size() && std::any_of(slots.begin(), slots.end(), [&](const Slot& s) {
      return s.begin == arg.value.data() &&
             (s.kind == SlotKind::kArgInteger || s.kind == SlotKind::kArgText);
    });
    if (!in_slot) {
      entry.constant = words_.strings.Intern(wants_args_ ? arg.value : std::string_view());
    } else {
      entry.slot = static_cast<int32_t>(next_slot);
      SlotHome& home = args.slots[next_slot++].home;
      if (home == SlotHome::kInteger && arg.key == "correlation") {
        shape.correlation = entry.slot;
        if (on_gpu || kind == SliceKind::kHostCall) home = SlotHome::kCorrelation;
      }
      if (home == SlotHome::kInteger && (arg.key == "External id" || arg.key == "external id")) {
        shape.external_id = entry.slot;
        if (on_gpu || kind == SliceKind::kHostOp) home = SlotHome::kExternalId;
      }
    }
    args.entries.push_back(entry);
  }
  shape.args_slots = static_cast<uint32_t>(args.slots.size());
  if (!wants_args_ || event.phase.text() == "M") return ArgsShapeId::kNone;
  return words_.AddArgsShape(std::move(args));
}

// ---- names, predictions, output ---------------------------------------------------------------

uint32_t EventDecoder::FindName(uint32_t head, std::string_view raw, bool add) {
  const uint64_t hash = HashBytes(raw) ^ (head * uint64_t{0x9e3779b97f4a7c15});
  const size_t mask = name_table_.size() - 1;
  size_t slot = hash & mask;
  for (; name_table_[slot] != 0; slot = (slot + 1) & mask) {
    const Name& name = names_[name_table_[slot] - 1];
    if (name.hash == hash && name.head == head && name.raw == raw) return name_table_[slot] - 1;
  }
  if (!add) return kNone;
  Name name{hash, head, raw_names_.View(raw_names_.Intern(raw)), StringId::kEmpty, {}};
  const bool escaped = raw.find('\\') != std::string_view::npos;
  name.id = words_.strings.Intern(escaped ? UnescapeJson(raw) : raw);
  names_.push_back(std::move(name));
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

// Puts `shape` first among those of `name`, and notes that it came after the one that was first.
void EventDecoder::Remember(uint32_t name, uint32_t shape) {
  std::vector<uint32_t>& list = names_[name].shapes;
  if (!list.empty()) {
    shapes_[list.front()].next_same_name = shape;
    if (list.front() == shape) return;
  }
  const auto at = std::find(list.begin(), list.end(), shape);
  if (at != list.end()) {
    std::rotate(list.begin(), at, at + 1);
    return;
  }
  if (list.size() == kCandidates) list.pop_back();
  list.insert(list.begin(), shape);
}

// Corrects the guess that was made for this event, and makes the one for the next.
void EventDecoder::Follow(uint32_t head, uint32_t name, uint32_t shape) {
  *guess_ = {head, name, shape};
  const uint32_t context = last_name_ * 0x9e3779b1u ^ (name + 1) * 0x85ebca6bu;
  guess_ = &guesses_[(context ^ context >> 15) & (guesses_.size() - 1)];
  last_name_ = name + 1;
}

void EventDecoder::Emit(uint32_t name, uint32_t shape_id) {
  Shape& shape = shapes_[shape_id];
  Event& event = shape.prototype;  // what varies is written into it anew each time
  if (name != kNone) event.name = names_[name].id;
  event.has_start = values_.has_start;
  event.start = {values_.start_ns};
  event.duration = {values_.duration_ns};
  if (values_.flow_id != -1) event.flow_id = values_.flow_id;
  if (event.phase == 'M') {
    const StringId pid = values_.pid != StringId::kEmpty ? values_.pid : shape.pid;
    const StringId tid = values_.tid != StringId::kEmpty ? values_.tid : shape.tid;
    event.track = words_.InternTrack(pid, tid);
    event.metadata = values_.metadata;
  }
  if (shape.correlation >= 0) event.correlation = arg_values_[static_cast<size_t>(shape.correlation)];
  if (shape.external_id >= 0) event.external_id = arg_values_[static_cast<size_t>(shape.external_id)];
  event.arg_values = {arg_values_.data(), shape.args_slots};
  sink_.OnEvent(event);
}

// Starts anew, keeping only the words.
void EventDecoder::Forget() {
  heads_.clear();
  recent_heads_.clear();
  head_ids_.clear();
  shapes_.clear();
  shape_ids_.clear();
  names_.clear();
  name_table_.assign(256, 0);
  raw_names_ = StringPool();
  after_names_.clear();
  arg_values_seen_.clear();
  learnt_bytes_ = 0;
  guesses_.fill({});
  guess_ = &guesses_[0];
}

}  // namespace tacho::kineto

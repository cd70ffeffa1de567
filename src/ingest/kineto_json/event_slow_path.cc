// The slow path of EventDecoder: parses an event, and cuts it at the places where events of its
// shape differ.
#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "base/utf8.h"
#include "ingest/kineto_json/event_decoder.h"
#include "ingest/kineto_json/number.h"
#include "model/device_rows.h"

namespace tacho::kineto {
namespace {

// Ids and amounts that differ in every event that Kineto writes. They get a slot at once.
constexpr std::string_view kVolatileArgs[] = {"External id",
                                              "external id",
                                              "correlation",
                                              kDeviceRowLink,
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

// These arguments name an event's stream or the kind of its work. All events of a shape share both,
// so they never get a slot.
constexpr std::string_view kFixedArgs[] = {"device", "stream", kOriginalStream, kDeviceRowType};

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view key) {
  return std::find(std::begin(list), std::end(list), key) != std::end(list);
}

// A key that differs for different parts. It includes the lengths of the segments, because segments
// may hold any bytes.
std::string KeyOf(const TemplatePart& part, uint32_t prefix) {
  std::string key = std::to_string(prefix) + ':';
  for (const Segment& segment : part.segments) {
    key.append(reinterpret_cast<const char*>(&segment.size), sizeof segment.size);
    key.append(part.bytes, segment.begin, segment.size);
    key.push_back(static_cast<char>(segment.slot));
  }
  return key;
}

}  // namespace

Scan EventDecoder::DecodeSlow(Cursor& c) {
  ParsedEvent event;
  const Scan scan = ParseEvent(c, habits_, options_.runaway_bytes, event);
  if (scan != Scan::kOk) return scan;
  if (HasHole(event.begin, event.end)) {
    c.p = event.begin;
    return Scan::kBad;
  }
  // The fast path ends a string at its first quote, so it must not learn from a repaired string.
  const bool may_match = !event.repaired;
  if (event.repaired) notes_.Add(NoteId::kRepairedName, Where());

  values_ = {};
  const bool has_category = static_cast<bool>(event.category);
  const CategoryId category =
      has_category ? words_.InternCategory(UnescapeJson(event.category.text())) : CategoryId{};
  const std::vector<Slot> slots = FindSlots(event, category, has_category);

  auto [head, tail] = CutAtSlots(event, slots);
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

  ReadSlots(slots);
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

std::vector<EventDecoder::Slot> EventDecoder::FindSlots(const ParsedEvent& event,
                                                        CategoryId category, bool has_category) {
  std::vector<Slot> slots;
  const auto add = [&](const Field& field, SlotKind kind) {
    if (field) slots.push_back({field.begin, field.end, kind});
  };
  add(event.start, SlotKind::kStart);
  add(event.duration, SlotKind::kDuration);
  if (event.MayHaveId() && event.id && CanonicalInteger(event.id.text()))
    add(event.id, SlotKind::kId);
  const bool is_metadata = event.Phase() == 'M';
  // A shape of GPU work has exactly one stream, so its pid and tid get no slots.
  if (is_metadata && !(has_category && IsGpuWork(words_[category].kind))) {
    if (event.pid && CanonicalInteger(event.pid.text())) add(event.pid, SlotKind::kPid);
    if (event.tid && CanonicalInteger(event.tid.text())) add(event.tid, SlotKind::kTid);
  }
  if (is_metadata) {
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

// The slot that an argument gets; kEnd if it gets none and its value is part of the shape.
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

std::pair<TemplatePart, TemplatePart> EventDecoder::CutAtSlots(const ParsedEvent& event,
                                                               const std::vector<Slot>& slots) {
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
  return {std::move(head), std::move(tail)};
}

// Reads the slots from the parsed fields, including those that the fast path would refuse.
void EventDecoder::ReadSlots(const std::vector<Slot>& slots) {
  for (const Slot& slot : slots) {
    const std::string_view text(slot.begin, static_cast<size_t>(slot.end - slot.begin));
    switch (slot.kind) {
      case SlotKind::kArgInteger:
      case SlotKind::kArgText:
        AddArgValue(slot.kind == SlotKind::kArgInteger ? *CanonicalInteger(text) : TextValue(text));
        break;
      case SlotKind::kId:
        values_.id = *CanonicalInteger(text);
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
  // Sums of such times would overflow, and no profiler's clock shows them.
  good = good && values_.start_ns <= INT64_MAX / 4 && values_.start_ns >= INT64_MIN / 4 &&
         values_.duration_ns <= kLongestDuration;
  if (!good) notes_.Add(NoteId::kBadTime, Where());
  values_.has_start = good && event.start;
}

}  // namespace tacho::kineto

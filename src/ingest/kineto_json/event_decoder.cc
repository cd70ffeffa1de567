#include "ingest/kineto_json/event_decoder.h"

#include <algorithm>
#include <cstring>

#include "base/json_text.h"
#include "ingest/kineto_json/number.h"

namespace tacho::kineto {
namespace {

// Where the value at `p` ends; nullptr if the value is incomplete or needs repair.
const char* SkipPlainValue(const char* p, const Cursor& c) {
  Cursor value{p, c.end, c.last};
  return SkipValue(value, Place::kMember) == Scan::kOk && !value.repaired ? value.p : nullptr;
}

}  // namespace

EventDecoder::EventDecoder(EventSink& sink, const KinetoReadOptions& options)
    : sink_(sink),
      words_(sink.vocabulary()),
      notes_(sink.notes()),
      options_(options),
      wants_args_(sink.wants_args()),
      name_table_(256, 0) {
  // These are Kineto's two layouts; the file's own are added as it is read.
  habits_.after_names = {"\", \"pid\":", "\",\n    \"pid\":"};
}

Scan EventDecoder::Decode(Cursor& c, uint64_t offset) {
  offset_ = offset;
  return options_.fast_path && DecodeFast(c) ? Scan::kOk : DecodeSlow(c);
}

// Long: nearly every event takes this path, and the compiler optimizes it as a whole.
bool EventDecoder::DecodeFast(Cursor& c) {
  uint32_t head = kNone;
  const char* p = MatchHead(c, head);
  if (p == nullptr) return false;
  const uint32_t args_of_head = values_.args_used;

  if (!heads_[head].has_name) {
    const uint32_t only = heads_[head].only_shape;
    if (only == kNone || MayFollowObject(p, c.end, c.last) != Scan::kOk) return false;
    Follow(head, kNone, only);
    Emit(StringId::kEmpty, only);
    c.p = p;
    return true;
  }

  // If the name is the guessed one, there is no need to look for its end.
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
    values_.args_used = args_of_head;
    // If no arguments are wanted, their texts were not kept, so there is nothing to compare with.
    const std::vector<int64_t>& last = shapes_[shape].last_args;
    const bool comparable = wants_args_ && !last.empty();
    const char* const end =
        MatchPart(shapes_[shape].tail, comparable ? last.data() : nullptr, p, c);
    if (end == nullptr || MayFollowObject(end, c.end, c.last) != Scan::kOk) return false;
    Remember(name, shape);
    Follow(head, name, shape);
    Emit(names_[name].id, shape);
    c.p = end;
    return true;
  };
  if (expected != kNone && attempt(expected)) return true;
  const std::array<uint32_t, kCandidates>& candidates = names_[name].shapes;
  const uint32_t again = candidates[0] == kNone ? kNone : shapes_[candidates[0]].next_same_name;
  if (again != kNone && again != expected && attempt(again)) return true;
  for (const uint32_t shape : candidates) {
    if (shape == kNone) break;
    if (shape != expected && shape != again && attempt(shape)) return true;
  }
  return false;
}

const char* EventDecoder::MatchHead(const Cursor& c, uint32_t& head) {
  const uint32_t expected = guess_->head;
  values_.args_used = 0;
  if (expected != kNone) {
    if (const char* const behind = MatchPart(heads_[expected].part, nullptr, c.p, c)) {
      head = expected;
      return behind;
    }
  }
  for (size_t i = 0; i < recent_heads_.size(); ++i) {
    const uint32_t candidate = recent_heads_[i];
    if (candidate == expected) continue;
    values_.args_used = 0;
    if (const char* const behind = MatchPart(heads_[candidate].part, nullptr, c.p, c)) {
      std::rotate(recent_heads_.begin(), recent_heads_.begin() + static_cast<ptrdiff_t>(i),
                  recent_heads_.begin() + static_cast<ptrdiff_t>(i) + 1);
      head = candidate;
      return behind;
    }
  }
  return nullptr;
}

// `last_args`: what the argument slots held in the last event, or nullptr.
const char* EventDecoder::MatchPart(const TemplatePart& part, const int64_t* last_args,
                                    const char* p, const Cursor& c) {
  const char* const bytes = part.bytes.data();
  for (const Segment& segment : part.segments) {
    if (c.end - p < static_cast<ptrdiff_t>(segment.size) ||
        !SameBytes(p, bytes + segment.begin, segment.size)) {
      return nullptr;
    }
    p += segment.size;
    // A number that runs beyond `end` will not match the next fixed bytes.
    switch (segment.slot) {
      case SlotKind::kEnd:
        return p;
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
      case SlotKind::kDuration:
        p = ReadPlainMicroseconds(p, values_.duration_ns);
        if (values_.duration_ns > kLongestDuration) return nullptr;
        break;
      case SlotKind::kId:
        p = ReadCanonicalInteger(p, values_.id);
        break;
      case SlotKind::kArgText:
        if (last_args != nullptr) {
          const auto text = static_cast<StringId>(last_args[values_.args_used]);
          const char behind = bytes[segment.begin + segment.size];
          if (const char* const end = MatchText(text, behind, p, c)) {
            p = end;
            AddArgValue(static_cast<int64_t>(text));
            break;
          }
        }
        [[fallthrough]];
      default:
        p = ReadTextSlot(segment.slot, p, c);
    }
    if (p == nullptr) return nullptr;
  }
  return nullptr;
}

// If `text` stands at `p`, followed by `behind`, returns where it ends; else nullptr. No parsing is
// needed: `text` was read from this slot before, between the same fixed bytes.
const char* EventDecoder::MatchText(StringId text, char behind, const char* p, const Cursor& c) {
  if (text == StringId::kEmpty) return nullptr;
  const std::string_view bytes = words_[text];
  if (c.end - p <= static_cast<ptrdiff_t>(bytes.size()) || p[bytes.size()] != behind ||
      !SameBytes(p, bytes.data(), bytes.size())) {
    return nullptr;
  }
  return p + bytes.size();
}

// Reads a slot that does not hold a plain number. The caller then compares the fixed bytes after
// it, which shows whether it was read correctly.
const char* EventDecoder::ReadTextSlot(SlotKind kind, const char* p, const Cursor& c) {
  switch (kind) {
    case SlotKind::kPid:
    case SlotKind::kTid: {
      int64_t value = 0;
      const char* const behind = ReadCanonicalInteger(p, value);
      if (behind == nullptr || behind > c.end) return nullptr;
      const StringId id = words_.strings.Intern({p, static_cast<size_t>(behind - p)});
      (kind == SlotKind::kPid ? values_.pid : values_.tid) = id;
      return behind;
    }
    case SlotKind::kMetadata: {
      const char* const behind = SkipPlainValue(p, c);
      if (behind == nullptr || HasHole(p, behind)) return nullptr;
      values_.metadata =
          words_.strings.Intern(JsonStringOrText({p, static_cast<size_t>(behind - p)}));
      return behind;
    }
    case SlotKind::kArgText: {
      const char* const behind = SkipPlainValue(p, c);
      if (behind == nullptr || HasHole(p, behind)) return nullptr;
      const std::string_view text(p, static_cast<size_t>(behind - p));
      // The slow path will give the event another shape.
      if (SlotOfVaryingArg(text) != kind) return nullptr;
      AddArgValue(TextValue(text));
      return behind;
    }
    default:
      return nullptr;
  }
}

// Moves `shape` to the front of the shapes of `name`, and makes the former front point to it.
void EventDecoder::Remember(uint32_t name, uint32_t shape) {
  std::array<uint32_t, kCandidates>& list = names_[name].shapes;
  if (list[0] != kNone) shapes_[list[0]].next_same_name = shape;
  if (list[0] == shape) return;
  // A new shape replaces the last one.
  const auto at = std::find(list.begin(), list.end() - 1, shape);
  std::rotate(list.begin(), at, at + 1);
  list[0] = shape;
}

// Corrects the guess for this event, and looks up the guess for the next event.
void EventDecoder::Follow(uint32_t head, uint32_t name, uint32_t shape) {
  std::vector<int64_t>& args = shapes_[shape].last_args;
  std::copy_n(arg_values_.begin(), args.size(), args.begin());
  *guess_ = {head, name, shape};
  // After eight more names, this name's bits have been shifted out.
  last_names_ = (last_names_ << 8) ^ ((name + 1) * uint64_t{0x9e3779b97f4a7c15} >> 8);
  guess_ = &guesses_[last_names_ * 0xd6e8feb86659fd93 >> (64 - kGuessBits)];
  __builtin_prefetch(guess_);
}

// The id in a slot as a number; TextId if it is a text.
int64_t EventDecoder::IdOf(const Shape& shape, int32_t slot) const {
  const int64_t value = arg_values_[static_cast<size_t>(slot)];
  const bool is_text = slot == shape.text_correlation || slot == shape.text_external_id;
  return is_text && wants_args_ ? TextId(words_[static_cast<StringId>(value)]) : value;
}

void EventDecoder::Emit(StringId name, uint32_t shape_id) {
  Shape& shape = shapes_[shape_id];
  Event& event = shape.prototype;  // each event overwrites the fields that vary
  event.name = shape.copy_name != StringId::kEmpty && name == plain_copy_ ? shape.copy_name : name;
  if (shape.lacks_duration) notes_.Add(NoteId::kMissingDuration, Where());
  if (shape.lacks_start) notes_.Add(NoteId::kBadTime, Where());
  if (shape.Has(SlotKind::kStart)) {
    event.has_start = values_.has_start;
    event.start = {values_.start_ns};
  }
  if (shape.Has(SlotKind::kDuration)) event.duration = {values_.duration_ns};
  if (shape.Has(SlotKind::kId)) event.id = values_.id;
  if (event.type == EventType::kMetadata) event.track = Describe(name, shape);
  if (shape.correlation >= 0) event.correlation = IdOf(shape, shape.correlation);
  if (shape.external_id >= 0) event.external_id = IdOf(shape, shape.external_id);
  event.arg_values = {arg_values_.data(), shape.args_slots};
  if (shape.gpu) ReadGpuSlots(*shape.gpu, event);
  ++events_of_phase_[static_cast<unsigned char>(shape.phase)];
  sink_.OnEvent(event);
}

// Sets the fields of `event` from the slots whose values go into columns.
void EventDecoder::ReadGpuSlots(GpuSlots& gpu, Event& event) {
  bool launched_alike = !gpu.launch.empty();
  gpu.launch.resize(gpu.slots.size());
  for (size_t i = 0; i < gpu.slots.size(); ++i) {
    const GpuSlots::Slot& slot = gpu.slots[i];
    const int64_t value = arg_values_[static_cast<size_t>(slot.slot)];
    if (slot.arg != GpuArg::kGraph && slot.arg != GpuArg::kGraphNode) {
      launched_alike = launched_alike && gpu.launch[i] == value;
      gpu.launch[i] = value;
      continue;
    }
    const std::optional<int64_t> id =
        slot.is_text ? JsonInteger(words_[static_cast<StringId>(value)]) : value;
    (slot.arg == GpuArg::kGraph ? event.graph : event.graph_node) = id.value_or(0);
  }
  if (launched_alike) return;
  LaunchSizes sizes = gpu.fixed;
  for (const GpuSlots::Slot& slot : gpu.slots) {
    const int64_t value = arg_values_[static_cast<size_t>(slot.slot)];
    if (slot.is_text)
      SetLaunchSize(slot.arg, words_[static_cast<StringId>(value)], sizes);
    else
      SetLaunchSize(slot.arg, value, sizes);
  }
  event.launch = words_.InternLaunch(sizes);
}

TrackId EventDecoder::Describe(StringId what, const Shape& shape) {
  const TrackId track = TrackOf(shape.Has(SlotKind::kPid) ? values_.pid : shape.pid,
                                shape.Has(SlotKind::kTid) ? values_.tid : shape.tid);
  const StringId told = shape.Has(SlotKind::kMetadata) ? values_.metadata : StringId::kEmpty;
  if (words_[what] == "thread_name") words_[track].name = told;
  if (words_[what] == "process_name") words_[words_[track].process].name = told;
  if (words_[what] == "process_labels") words_[words_[track].process].label = told;
  return track;
}

TrackId EventDecoder::TrackOf(StringId pid, StringId tid) {
  const size_t known = words_.processes().size();
  const ProcessId process = words_.InternProcess(pid);
  if (words_.processes().size() > known) {
    const std::string text(words_[pid]);
    words_[process].rank = words_.strings.Intern(RankOfPid(text));
    words_[process].device = words_.strings.Intern(DeviceOfPid(text));
  }
  return words_.InternTrack(process, tid);
}

void EventDecoder::CountPhases(EventCounts& counts) const {
  for (size_t phase = 0; phase < events_of_phase_.size(); ++phase) {
    const uint64_t events = events_of_phase_[phase];
    if (events > 0) counts.by_label[std::string(1, static_cast<char>(phase))] += events;
  }
}

}  // namespace tacho::kineto

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ingest/kineto_json/event_parser.h"
#include "ingest/kineto_json/event_template.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "model/event.h"

namespace tacho::kineto {

// torch's Python exporter can draw GPU work on lanes by annotation (graph_lanes="all"). `stream`
// and tid then name the lane, and this argument names the stream on which the work ran.
inline constexpr std::string_view kOriginalStream = "original_stream";

// Turns the bytes of events into Events. An event that looks like an earlier one takes a fast path.
//
// A trace of millions of events has a few thousand shapes. Events of one shape have the same bytes,
// except for the times, a few ids and the name. ParseEvent parses the first event of a shape, from
// which the decoder learns the shape: the head (the bytes before the name) and the tail (the bytes
// after it), each as fixed bytes with slots between them. It compares a later event with the likely
// shapes, 16 bytes at a time, and reads only the slots. It assumes nothing about the producer: the
// order of keys, the white space and the fixed values are those of the first event.
//
// Both paths end in the same Emit with the same shape: the fast path makes no decision of its own.
class EventDecoder {
 public:
  EventDecoder(EventSink& sink, const KinetoReadOptions& options);

  // Decodes the event whose opening brace is at c.p, passes it to the sink and moves c.p past it.
  // c.p moves only if the result is kOk. BlockStream::kTailroom bytes after the cursor's end must
  // be readable. `offset`: where c.p lies in the document, for notes.
  Scan Decode(Cursor& c, uint64_t offset);

  // Adds to `counts` the number of events per phase (a letter that Chrome's format defines).
  void CountPhases(EventCounts& counts) const;

  [[nodiscard]] const EventHabits& habits() const { return habits_; }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr size_t kCandidates = 8;
  static constexpr int kGuessBits = 14;

  struct Name {
    std::string_view raw;  // as in the file, without the quotes
    uint32_t hash = 0;
    uint32_t head = 0;
    StringId id = StringId::kEmpty;
    std::array<uint32_t, kCandidates> shapes;  // most recent first; kNone fills the rest
  };
  struct Head {
    TemplatePart part;
    bool has_name = false;
    uint32_t only_shape = kNone;  // for events without a name: their shape
  };
  // The slots whose values go into columns of GpuTable.
  struct GpuSlots {
    struct Slot {
      GpuArg arg;
      int32_t slot = 0;  // the slot's index among the arguments
      bool is_text = false;
    };
    std::vector<Slot> slots = {};
    LaunchSizes fixed = {};            // the sizes that have no slot
    std::vector<int64_t> launch = {};  // the slots' values in the last event
  };
  struct Shape {
    TemplatePart tail;
    Event prototype;        // holds the fields that the shape fixes
    StringId pid{}, tid{};  // for metadata events that have no slots for them
    // The name for a copy that the file only calls "Memcpy" (NameOfCopy).
    StringId copy_name = StringId::kEmpty;
    uint32_t args_slots = 0;  // number of slots that are arguments
    // The arguments of the last event, kept if some are texts, because these tend to repeat.
    std::vector<int64_t> last_args;
    bool lacks_duration = false;  // it is a slice without a duration
    bool lacks_start = false;     // NeedsStart is true, but the event has no start
    char phase = '?';             // a letter of Chrome's format
    uint32_t slots = 0;           // one bit per kind of slot that the shape has
    int32_t correlation = -1;     // index of its slot among the arguments, or -1
    int32_t external_id = -1;
    // Equal to `correlation` and `external_id` if that id is a text, else -1.
    int32_t text_correlation = -1, text_external_id = -1;
    std::unique_ptr<GpuSlots> gpu;  // null: no slot's value goes into a column
    // The shape that the next event of the same name had after this shape last occurred.
    uint32_t next_same_name = kNone;

    [[nodiscard]] bool Has(SlotKind kind) const { return (slots & SlotBit(kind)) != 0; }
  };
  // The event that came last after the same sequence of eight names. Traces repeat themselves, so
  // it is a good guess for the next event.
  struct Guess {
    uint32_t head = kNone;
    uint32_t name = kNone;
    uint32_t shape = kNone;
  };
  // The values in the current event's slots. If its shape has no slot for a field, the field keeps
  // the value of an earlier event.
  struct Scalars {
    int64_t start_ns = 0, duration_ns = 0, id = -1;
    StringId pid{}, tid{}, metadata{};
    bool has_start = false;
    uint32_t args_used = 0;  // how many of arg_values_ are set
  };
  struct Slot {
    const char* begin;
    const char* end;
    SlotKind kind;
  };

  bool DecodeFast(Cursor& c);
  const char* MatchHead(const Cursor& c, uint32_t& head);
  const char* MatchPart(const TemplatePart& part, const int64_t* last_args, const char* p,
                        const Cursor& c);
  const char* MatchText(StringId text, char behind, const char* p, const Cursor& c);
  const char* ReadTextSlot(SlotKind kind, const char* p, const Cursor& c);
  void AddArgValue(int64_t value) {
    if (values_.args_used == arg_values_.size()) arg_values_.resize(arg_values_.size() * 2 + 8);
    arg_values_[values_.args_used++] = value;
  }
  // The value of a text slot. If the sink wants no arguments, only ids are needed, so no text is
  // kept.
  int64_t TextValue(std::string_view text) {
    return wants_args_ ? static_cast<int64_t>(words_.strings.Intern(text)) : TextId(text);
  }
  Scan DecodeSlow(Cursor& c);
  [[nodiscard]] std::string Where() const { return "byte " + std::to_string(offset_); }
  void ReadTimes(const ParsedEvent& event);
  void ReadSlots(const std::vector<Slot>& slots);
  std::vector<Slot> FindSlots(const ParsedEvent& event, CategoryId category, bool has_category);
  // Returns the parts before and after the name.
  static std::pair<TemplatePart, TemplatePart> CutAtSlots(const ParsedEvent& event,
                                                          const std::vector<Slot>& slots);
  SlotKind ArgSlot(const ParsedEvent::Arg& arg, CategoryId category);
  uint32_t LearnHead(std::string_view key, TemplatePart part, bool has_name, bool may_match);
  uint32_t LearnShape(const ParsedEvent& event, TemplatePart tail, const std::vector<Slot>& slots);
  StringId NameOfCopy(const ParsedEvent& event);
  StreamId ReadStream(const ParsedEvent& event, Stream otherwise);
  void ReadDeviceRow(const ParsedEvent& event, Event& row);
  ArgsShapeId LearnArgs(const ParsedEvent& event, const std::vector<Slot>& slots, Shape& shape);
  void ReadGpuSlots(GpuSlots& gpu, Event& event);
  uint32_t FindName(uint32_t head, std::string_view raw, bool add);
  void Remember(uint32_t name, uint32_t shape);
  void Follow(uint32_t head, uint32_t name, uint32_t shape);
  void LearnHabits(const ParsedEvent& event, const TemplatePart& tail);
  [[nodiscard]] int64_t IdOf(const Shape& shape, int32_t slot) const;
  void Emit(StringId name, uint32_t shape);
  // Names the process or thread that a metadata event describes, and returns its track.
  TrackId Describe(StringId what, const Shape& shape);
  TrackId TrackOf(StringId pid, StringId tid);
  void Forget();
  void GrowNames();

  EventSink& sink_;
  Vocabulary& words_;
  Notes& notes_;
  const KinetoReadOptions options_;
  bool wants_args_;
  StringId plain_copy_ = StringId::kEmpty;  // "Memcpy", set once a shape has a copy_name

  std::vector<Head> heads_;
  std::vector<uint32_t> recent_heads_;  // at most kCandidates, most recent first
  std::unordered_map<std::string, uint32_t> head_ids_;
  std::vector<Shape> shapes_;
  std::unordered_map<std::string, uint32_t> shape_ids_;
  std::vector<Name> names_;
  std::vector<uint32_t> name_table_;  // open addressing; holds index + 1
  StringPool raw_names_;
  std::unordered_set<StringId> invalid_names_;  // names that are not UTF-8 and were noted
  EventHabits habits_;
  // For each argument of each category: its values in the shapes so far. An argument with many
  // values gets a slot.
  std::unordered_map<uint64_t, std::unordered_set<uint64_t>> arg_values_seen_;
  std::unordered_set<uint64_t> volatile_args_;
  size_t learnt_bytes_ = 0;

  std::array<Guess, 1 << kGuessBits> guesses_{};  // indexed by a hash of the last eight names
  Guess* guess_ = &guesses_[0];
  uint64_t last_names_ = 0;
  Scalars values_;
  std::vector<int64_t> arg_values_;  // large enough for the arguments of any learnt shape
  uint64_t offset_ = 0;              // where the current event lies in the document
  std::array<uint64_t, 128> events_of_phase_{};
};

}  // namespace tacho::kineto

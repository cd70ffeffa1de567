#pragma once

#include <map>
#include <string>
#include <vector>

#include "export/pieces.h"
#include "export/proto_writer.h"
#include "model/trace.h"

namespace tacho {

// Field numbers from perfetto/protos/perfetto/trace/*.proto.
namespace perfetto {
enum Packet : uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
  kFirstOnSequence = 87,
};
enum Descriptor : uint32_t {
  kUuid = 1,
  kTrackName = 2,
  kParent = 5,
  kCounter = 8,
  kChildOrdering = 11,
  kOrderRank = 12,
  kMergeBehavior = 15,
  kMergeKeyNumber = 17,
};
enum Event : uint32_t {
  kCategories = 3,
  kAnnotations = 4,
  kType = 9,
  kNameId = 10,
  kTrackUuid = 11,
  kCounterValue = 30,
  kCounterDouble = 44,
  kFlows = 47,
  kEndingFlows = 48,
};
enum EventKind : uint32_t { kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4 };
enum Interned : uint32_t { kCategoryNames = 1, kNames = 2, kKeys = 3, kTexts = 29 };
}  // namespace perfetto

// Writes the packets of one sequence (Perfetto's unit of interned texts). Each text is written with
// the first packet that uses it.
class PerfettoPackets {
 public:
  PerfettoPackets(uint32_t sequence, const Trace& trace, Pieces& out)
      : sequence_(sequence), trace_(trace), out_(out) {}

  // Describes a track. Tracks are shown below their parent in the sequence of `order`. Tracks with
  // the same parent and `key` are shown as one.
  struct TrackOf {
    uint64_t uuid, parent = 0;  // 0: none
    std::string_view name;
    uint64_t order = 0, key = 0;
    bool is_counter = false;
  };
  void Track(const TrackOf& track);

  // Ids of texts for the next event. `name`: a number that is unique to `text`.
  uint64_t NameId(uint64_t name, std::string_view text);
  uint64_t CategoryId(std::string_view category);
  // Adds arguments as fields of `event`.
  void AddArguments(const ArgsOf& args, ProtoWriter& event);

  void Event(int64_t at, const ProtoWriter& event);
  [[nodiscard]] bool can_write() const { return out_.can_write(); }

 private:
  void Send(ProtoWriter packet);
  void Intern(uint32_t kind, uint64_t id, std::string_view text);
  // Adds a value that is given as JSON text.
  void AddValue(StringId json, ProtoWriter& annotation);

  uint32_t sequence_;
  const Trace& trace_;
  Pieces& out_;
  bool first_ = true;
  ProtoWriter interned_;  // new texts, to be written with the next packet
  std::vector<bool> names_, keys_, texts_;
  std::map<std::string, uint64_t, std::less<>> categories_;
};

// Writes one packet of a file.
void SendPacket(const ProtoWriter& packet, Pieces& out);

}  // namespace tacho

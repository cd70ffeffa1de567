#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/nsys_sqlite/global_ids.h"
#include "ingest/nsys_sqlite/name_table.h"
#include "ingest/nsys_sqlite/table_scan.h"
#include "model/event.h"

namespace tacho::nsys {

// Arguments of one event, put together key by key.
class ArgList {
 public:
  void Clear() { keys_.clear(), values_.clear(); }
  void Integer(std::string_view key, int64_t value) { Add(key, SlotHome::kInteger, value); }
  void Text(std::string_view key, StringId json) {
    Add(key, SlotHome::kText, static_cast<int64_t>(json));
  }
  void Correlation(int64_t value) { Add("correlation", SlotHome::kCorrelation, value); }
  void GraphNode(int64_t value) { Add("graph node id", SlotHome::kGraphNode, value); }

  struct Key {
    std::string_view name;
    SlotHome home;
    bool operator==(const Key& other) const {
      return home == other.home && name.size() == other.name.size() &&
             (name.data() == other.name.data() || name == other.name);
    }
  };
  [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
  [[nodiscard]] const std::vector<int64_t>& values() const { return values_; }

 private:
  void Add(std::string_view key, SlotHome home, int64_t value) {
    keys_.push_back({key, home});
    values_.push_back(value);
  }

  std::vector<Key> keys_;  // names are literals
  std::vector<int64_t> values_;
};

// One process of a recording on its way into a sink. Maps the ids of the export to the words of the
// sink.
class RecordedProcess {
 public:
  RecordedProcess(EventSink& sink, NameTable& names, int64_t pid);

  // The string of StringIds with this id, to which `row` refers. If it is missing: "(string 17)",
  // with a note.
  StringId Name(int64_t id, const RowPlace& row);
  StringId QuotedName(int64_t id, const RowPlace& row);  // as a JSON string
  StringId Intern(std::string_view text) { return words_.strings.Intern(text); }
  StringId InternName(std::string_view text, const RowPlace& row);  // noted if it is no UTF-8
  // `text` as a JSON string.
  StringId InternQuoted(std::string_view text);
  // "[x, y, z]"
  StringId InternTriple(int64_t x, int64_t y, int64_t z);
  CategoryId Category(std::string_view literal);

  TrackId Thread(int64_t tid);
  // The stream of GPU work, and its track among the tracks of the device.
  std::pair<TrackId, StreamId> Stream(int64_t device, int64_t stream);
  // Another track of a device.
  TrackId OnDevice(int64_t device, std::string_view row);
  TrackId Session();  // the track for what the profiler says about itself

  // Passes the event with these arguments to the sink, counted under `table`.
  void Emit(std::string_view table, Event& event, const ArgList& args);

  [[nodiscard]] EventSink& sink() { return sink_; }
  [[nodiscard]] Vocabulary& words() { return words_; }
  [[nodiscard]] Notes& notes() { return sink_.notes(); }
  [[nodiscard]] bool wants_args() const { return wants_args_; }
  // The threads that have a track, by tid.
  [[nodiscard]] const std::unordered_map<int64_t, TrackId>& threads() const { return threads_; }
  [[nodiscard]] ProcessId id() const { return process_; }

  // Calls that wait, as (correlation, name): CUPTI's own type of a wait is wrong in many versions.
  std::vector<std::pair<int64_t, StringId>> waits = {};
  bool uses_cuda = false;
  // The names of the NVTX domains of this process's ranges, as JSON strings; kEmpty: no name.
  std::unordered_map<int64_t, StringId> domains = {};

 private:
  ArgsShapeId ShapeOf(const ArgList& args);

  EventSink& sink_;
  Vocabulary& words_;
  NameTable& names_;
  const bool wants_args_;
  ProcessId process_{};
  std::unordered_map<int64_t, StringId> strings_, quoted_;
  std::unordered_map<int64_t, TrackId> threads_;
  std::map<std::pair<int64_t, int64_t>, std::pair<TrackId, StreamId>> streams_;
  std::string_view counted_as_;
  uint64_t* count_ = nullptr;
  struct Shape {
    std::vector<ArgList::Key> keys;
    ArgsShapeId id;
  };
  std::vector<std::pair<const char*, CategoryId>> categories_;  // by the literal's address
  // The last triple of each hash. There are few different triples.
  struct Triple {
    std::array<int64_t, 3> sizes;
    StringId text = StringId::kEmpty;
  };
  std::array<Triple, 64> triples_ = {};
  std::vector<Shape> shapes_;
  size_t last_shape_ = 0;
};

}  // namespace tacho::nsys

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

// The arguments of one event, added key by key.
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

  std::vector<Key> keys_;  // key names are literals
  std::vector<int64_t> values_;
};

// One process of a recording on its way into a sink. Translates the export's ids into the sink's
// own words (strings, tracks, categories).
class RecordedProcess {
 public:
  RecordedProcess(EventSink& sink, NameTable& names, int64_t pid);

  // The string with this id in StringIds. `row`: the row that refers to it. If the string is
  // missing: "(string 17)", with a note.
  StringId Name(int64_t id, const RowPlace& row);
  StringId QuotedName(int64_t id, const RowPlace& row);  // as a JSON string
  StringId Intern(std::string_view text) { return words_.strings.Intern(text); }
  StringId InternName(std::string_view text, const RowPlace& row);  // notes text that is not UTF-8
  // Interns `text` as a JSON string.
  StringId InternQuoted(std::string_view text);
  // Interns "[x, y, z]".
  StringId InternTriple(int64_t x, int64_t y, int64_t z);
  CategoryId Category(std::string_view literal);

  TrackId Thread(int64_t tid);
  // The stream of GPU work, and the stream's track below its device.
  std::pair<TrackId, StreamId> Stream(int64_t device, int64_t stream);
  // Another track below a device, with the name `row`.
  TrackId OnDevice(int64_t device, std::string_view row);
  TrackId Session();  // the track for the profiler's own session

  // Passes the event with these arguments to the sink, and counts it for `table`.
  void Emit(std::string_view table, Event& event, const ArgList& args);

  [[nodiscard]] EventSink& sink() { return sink_; }
  [[nodiscard]] Vocabulary& words() { return words_; }
  [[nodiscard]] Notes& notes() { return sink_.notes(); }
  [[nodiscard]] bool wants_args() const { return wants_args_; }
  // The tracks of the threads, by tid.
  [[nodiscard]] const std::unordered_map<int64_t, TrackId>& threads() const { return threads_; }
  [[nodiscard]] ProcessId id() const { return process_; }

  // Calls that wait, as (correlation, name). The name tells the type of a wait, because the type
  // that CUPTI gives is wrong in many versions.
  std::vector<std::pair<int64_t, StringId>> waits = {};
  bool uses_cuda = false;
  // For each NVTX domain of this process's ranges: its name as a JSON string; kEmpty if it has
  // none.
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
  std::vector<std::pair<const char*, CategoryId>> categories_;  // found by the literal's address
  // Cache with the last triple for each hash. There are few different triples.
  struct Triple {
    std::array<int64_t, 3> sizes;
    StringId text = StringId::kEmpty;
  };
  std::array<Triple, 64> triples_ = {};
  std::vector<Shape> shapes_;
  size_t last_shape_ = 0;
};

}  // namespace tacho::nsys

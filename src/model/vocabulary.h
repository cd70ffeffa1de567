#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "model/args.h"
#include "model/category.h"
#include "model/ids.h"

namespace tacho {

// A row of the timeline. Keyed by the texts of pid and tid as the file has them ("0", "-1",
// "Spans").
struct Track {
  StringId pid;
  StringId tid;
  StringId thread_name = StringId::kEmpty;  // from metadata events; empty when not told
  StringId process_name = StringId::kEmpty;
};

// A stream of a device, by the trace's own ids as text.
struct Stream {
  StringId device;
  StringId stream;
};

struct Category {
  StringId name;  // under its name of today
  SliceKind kind;
  // "Trace": the profiler's note of its own window, around the events rather than one of them.
  bool is_window = false;
};

// The words of one trace: everything that its tables name by id.
class Vocabulary {
 public:
  StringPool strings;

  TrackId InternTrack(StringId pid, StringId tid);
  StreamId InternStream(StringId device, StringId stream);
  // Beyond 255 categories (no real trace has 40) the rest share the last id.
  CategoryId InternCategory(std::string_view in_file);
  ArgsShapeId AddArgsShape(ArgsShape shape);

  [[nodiscard]] const std::vector<Track>& tracks() const { return tracks_; }
  [[nodiscard]] std::vector<Track>& tracks() { return tracks_; }
  [[nodiscard]] const std::vector<Stream>& streams() const { return streams_; }
  [[nodiscard]] const std::vector<Category>& categories() const { return categories_; }
  [[nodiscard]] const std::vector<ArgsShape>& args_shapes() const { return args_shapes_; }

  [[nodiscard]] const Track& operator[](TrackId id) const { return tracks_[Index(id)]; }
  [[nodiscard]] const Stream& operator[](StreamId id) const { return streams_[Index(id)]; }
  [[nodiscard]] const Category& operator[](CategoryId id) const { return categories_[Index(id)]; }
  [[nodiscard]] const ArgsShape& operator[](ArgsShapeId id) const {
    return args_shapes_[Index(id)];
  }
  [[nodiscard]] std::string_view operator[](StringId id) const { return strings.View(id); }

  [[nodiscard]] size_t MemoryBytes() const;

 private:
  std::vector<Track> tracks_;
  std::unordered_map<uint64_t, TrackId> track_ids_;
  std::vector<Stream> streams_;
  std::unordered_map<uint64_t, StreamId> stream_ids_;
  std::vector<Category> categories_;
  std::vector<ArgsShape> args_shapes_ = std::vector<ArgsShape>(1);  // [0]: no arguments
};

}  // namespace tacho

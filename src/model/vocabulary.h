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

// What SGLang's merger puts before each pid of a rank, with the bracket and the space behind it:
// "[TP00-DP01] " of "[TP00-DP01] 1234"; "" when the pid has no such part.
std::string_view RankOfPid(std::string_view pid);

// The words of one trace: everything that its tables name by id.
class Vocabulary {
 public:
  StringPool strings;

  TrackId InternTrack(StringId pid, StringId tid);
  StreamId InternStream(StringId device, StringId stream);
  // The stream of GPU work on `track`. In a merged file the ids of devices are those of several
  // machines: the device is then named with the rank, "[TP08] 0".
  StreamId StreamOfRank(StreamId stream, TrackId track) {
    const StringId rank = RankOf(track);
    return rank == StringId::kEmpty ? stream : InternStreamOfRank(stream, rank);
  }
  // The rank that a track's pid begins with, see RankOfPid; kEmpty for most, and
  // for no track.
  [[nodiscard]] StringId RankOf(TrackId track) const {
    return Index(track) < rank_of_track_.size() ? rank_of_track_[Index(track)] : StringId::kEmpty;
  }
  // Categories whose events go to a table of their own always have their own id. Of all others
  // (no real trace has 40) those beyond kMostOtherCategories share one, "(other)".
  static constexpr size_t kMostOtherCategories = 200;
  CategoryId InternCategory(std::string_view in_file);
  [[nodiscard]] bool has_shared_category() const { return shared_category_ >= 0; }
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
  StreamId InternStreamOfRank(StreamId stream, StringId rank);

  std::vector<Track> tracks_;
  std::vector<StringId> rank_of_track_;
  std::unordered_map<uint64_t, TrackId> track_ids_;
  std::vector<Stream> streams_;
  std::unordered_map<uint64_t, StreamId> stream_ids_;
  std::unordered_map<uint64_t, StreamId> streams_of_ranks_;  // by rank and stream
  std::vector<Category> categories_;
  size_t other_categories_ = 0;
  int shared_category_ = -1;  // index of "(other)", -1: not needed yet
  std::vector<ArgsShape> args_shapes_ = std::vector<ArgsShape>(1);  // [0]: no arguments
};

}  // namespace tacho

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "model/args.h"
#include "model/ids.h"
#include "model/launch_sizes.h"
#include "model/slice_kind.h"

namespace tacho {

// An owner of rows of the timeline: a process, a device, or whatever else has rows in the format.
struct Process {
  StringId id;                       // as the file has it: "1234", "-1", "Spans"
  StringId name = StringId::kEmpty;  // empty if the file has none
  StringId label = StringId::kEmpty;
  // In a file merged from several ranks: which rank, as a prefix of its ids ("[TP08] "). Each rank
  // counts devices, correlations and External ids anew.
  StringId rank = StringId::kEmpty;
  StringId device = StringId::kEmpty;  // if the rows belong to a device: its id as in Stream
  std::optional<int64_t> number = {};  // the id, if it is a whole number
};

// A row of the timeline: a thread of a process, or, without a tid, all of the process.
struct Track {
  ProcessId process;
  StringId tid;                      // as the file has it
  StringId name = StringId::kEmpty;  // of the thread; empty if the file has none
};

// A stream of a device, by the trace's own ids as text. Without a stream it is the whole device.
struct Stream {
  StringId device;
  StringId stream;
};

// What a counter measures: one series of a counter of a process or a device.
struct Metric {
  ProcessId owner;
  StringId name;
  StringId series;  // kEmpty where the counter's only series has no name

  auto operator<=>(const Metric&) const = default;
};

struct Category {
  StringId name;  // its current name
  SliceKind kind;
  CategoryMeaning meaning;
  // "Trace": a slice that shows when the profiler ran.
  bool is_window = false;
};

// Everything that the tables of a trace refer to by id.
class Vocabulary {
 public:
  StringPool strings;

  ProcessId InternProcess(StringId id);
  TrackId InternTrack(ProcessId process, StringId tid);
  MetricId InternMetric(const Metric& metric);
  StreamId InternStream(StringId device, StringId stream);
  // The stream of GPU work on `track`. In a merged file several ranks have a device "0": the name
  // of the device then has the rank, "[TP08] 0".
  StreamId StreamOfRank(StreamId stream, TrackId track) {
    const StringId rank = RankOf(track);
    return rank == StringId::kEmpty ? stream : InternStreamOfRank(stream, rank);
  }
  // Process::rank of the track's process; kEmpty for no track.
  [[nodiscard]] StringId RankOf(TrackId track) const {
    return Index(track) < tracks_.size() ? processes_[Index(tracks_[Index(track)].process)].rank
                                         : StringId::kEmpty;
  }
  // Categories whose slices have a table always have their own id. Of the other categories (no real
  // trace has 40) all beyond the first kMostOtherCategories share one id, "(other)".
  static constexpr size_t kMostOtherCategories = 200;
  CategoryId InternCategory(std::string_view in_file);
  [[nodiscard]] bool has_shared_category() const { return shared_category_ >= 0; }
  ArgsShapeId AddArgsShape(ArgsShape shape);
  // kNone for sizes that are all absent.
  LaunchId InternLaunch(const LaunchSizes& sizes);

  [[nodiscard]] const std::vector<Process>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<Track>& tracks() const { return tracks_; }
  [[nodiscard]] const std::vector<Stream>& streams() const { return streams_; }
  [[nodiscard]] const std::vector<Metric>& metrics() const { return metrics_; }
  [[nodiscard]] const std::vector<Category>& categories() const { return categories_; }
  [[nodiscard]] const std::vector<ArgsShape>& args_shapes() const { return args_shapes_; }

  [[nodiscard]] Process& operator[](ProcessId id) { return processes_[Index(id)]; }
  [[nodiscard]] ArgsShape& operator[](ArgsShapeId id) { return args_shapes_[Index(id)]; }
  [[nodiscard]] const Process& operator[](ProcessId id) const { return processes_[Index(id)]; }
  [[nodiscard]] Track& operator[](TrackId id) { return tracks_[Index(id)]; }
  [[nodiscard]] const Track& operator[](TrackId id) const { return tracks_[Index(id)]; }
  [[nodiscard]] const Stream& operator[](StreamId id) const { return streams_[Index(id)]; }
  [[nodiscard]] const Category& operator[](CategoryId id) const { return categories_[Index(id)]; }
  [[nodiscard]] const ArgsShape& operator[](ArgsShapeId id) const {
    return args_shapes_[Index(id)];
  }
  [[nodiscard]] const LaunchSizes& operator[](LaunchId id) const { return launches_[Index(id)]; }
  [[nodiscard]] std::string_view operator[](StringId id) const { return strings.View(id); }

  [[nodiscard]] size_t MemoryBytes() const;

 private:
  StreamId InternStreamOfRank(StreamId stream, StringId rank);

  std::vector<Process> processes_;
  std::unordered_map<StringId, ProcessId> process_ids_;
  std::vector<Track> tracks_;
  std::unordered_map<uint64_t, TrackId> track_ids_;
  std::vector<Stream> streams_;
  std::unordered_map<uint64_t, StreamId> stream_ids_;
  std::unordered_map<uint64_t, StreamId> streams_of_ranks_;  // by rank and stream
  std::vector<Metric> metrics_;
  std::map<Metric, MetricId> metric_ids_;
  std::vector<Category> categories_;
  size_t other_categories_ = 0;
  int shared_category_ = -1;  // index of "(other)", -1: not needed yet
  std::vector<ArgsShape> args_shapes_ = std::vector<ArgsShape>(1);   // [0]: no arguments
  std::vector<LaunchSizes> launches_ = std::vector<LaunchSizes>(1);  // [0]: nothing is known
  std::unordered_multimap<size_t, LaunchId> launch_ids_;             // by hash
};

}  // namespace tacho

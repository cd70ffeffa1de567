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

// The owner of lines in the timeline: a process, a device, or whatever else the format has.
struct Process {
  StringId id;                       // as in the file: "1234", "-1", "Spans"
  StringId name = StringId::kEmpty;  // empty if the file gives none
  StringId label = StringId::kEmpty;
  // The rank, if the file was merged from several ranks: the prefix of the process ids ("[TP08] ").
  // Each rank numbers its devices, correlations and External ids anew.
  StringId rank = StringId::kEmpty;
  StringId device = StringId::kEmpty;  // set if its rows belong to a device: id as in Stream
  std::optional<int64_t> number = {};  // `id`, if that is a whole number
};

// A line of the timeline: a thread of a process; without a tid, the whole process.
struct Track {
  ProcessId process;
  StringId tid;                      // as in the file
  StringId name = StringId::kEmpty;  // name of the thread; empty if the file gives none
};

// A stream of a device. Both ids are texts, as in the trace. If `stream` is empty, this stands for
// the whole device.
struct Stream {
  StringId device;
  StringId stream;
};

// What a counter measures: one series of a counter that belongs to a process or a device.
struct Metric {
  ProcessId owner;
  StringId name;
  StringId series;  // kEmpty if the counter has only one series and that has no name

  auto operator<=>(const Metric&) const = default;
};

struct Category {
  StringId name;  // its current name
  SliceKind kind;
  CategoryMeaning meaning;
  // True for "Trace", whose slices show when the profiler ran.
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
  // The stream that work on `track` belongs to. In a merged file several ranks may have a device
  // "0", so the rank is put before the id of the device: "[TP08] 0".
  StreamId StreamOfRank(StreamId stream, TrackId track) {
    const StringId rank = RankOf(track);
    return rank == StringId::kEmpty ? stream : InternStreamOfRank(stream, rank);
  }
  // Process::rank of the process of `track`; kEmpty if there is no such track.
  [[nodiscard]] StringId RankOf(TrackId track) const {
    return Index(track) < tracks_.size() ? processes_[Index(tracks_[Index(track)].process)].rank
                                         : StringId::kEmpty;
  }
  // A category always has an id of its own if there is a table for its slices. The first
  // kMostOtherCategories of all other categories have ids of their own too; the rest share one id,
  // "(other)". (No real trace has 40 categories.)
  static constexpr size_t kMostOtherCategories = 200;
  CategoryId InternCategory(std::string_view in_file);
  [[nodiscard]] bool has_shared_category() const { return shared_category_ >= 0; }
  ArgsShapeId AddArgsShape(ArgsShape shape);
  // kNone if all sizes are absent.
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
  std::unordered_map<uint64_t, StreamId> streams_of_ranks_;  // keyed by rank and stream
  std::vector<Metric> metrics_;
  std::map<Metric, MetricId> metric_ids_;
  std::vector<Category> categories_;
  size_t other_categories_ = 0;
  int shared_category_ = -1;  // index of "(other)"; -1: not needed so far
  std::vector<ArgsShape> args_shapes_ = std::vector<ArgsShape>(1);   // [0]: no arguments
  std::vector<LaunchSizes> launches_ = std::vector<LaunchSizes>(1);  // [0]: all sizes are absent
  std::unordered_multimap<size_t, LaunchId> launch_ids_;             // by hash of the LaunchSizes
};

}  // namespace tacho

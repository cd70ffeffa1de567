#include "model/vocabulary.h"

#include <string>
#include <utility>

#include "base/parse_number.h"

namespace tacho {
namespace {

template <typename A, typename B>
uint64_t PairKey(A a, B b) {
  return (static_cast<uint64_t>(Index(a)) << 32) | Index(b);
}

}  // namespace

ProcessId Vocabulary::InternProcess(StringId id) {
  const auto [at, added] = process_ids_.try_emplace(id, static_cast<ProcessId>(processes_.size()));
  if (added) processes_.push_back({.id = id, .number = ParseWhole<int64_t>(strings.View(id))});
  return at->second;
}

TrackId Vocabulary::InternTrack(ProcessId process, StringId tid) {
  const auto [at, added] =
      track_ids_.try_emplace(PairKey(process, tid), static_cast<TrackId>(tracks_.size()));
  if (added) tracks_.push_back({.process = process, .tid = tid});
  return at->second;
}

MetricId Vocabulary::InternMetric(const Metric& metric) {
  const auto [at, added] = metric_ids_.try_emplace(metric, static_cast<MetricId>(metrics_.size()));
  if (added) metrics_.push_back(metric);
  return at->second;
}

StreamId Vocabulary::InternStreamOfRank(StreamId stream, StringId rank) {
  const auto [at, added] = streams_of_ranks_.try_emplace(PairKey(rank, stream), stream);
  if (!added) return at->second;
  const Stream plain = streams_[Index(stream)];
  const std::string device(strings.View(plain.device)), prefix(strings.View(rank));
  // A device that is named after its process already has the rank in its id.
  if (!device.starts_with(prefix)) {
    at->second = InternStream(strings.Intern(prefix + device), plain.stream);
  }
  return at->second;
}

StreamId Vocabulary::InternStream(StringId device, StringId stream) {
  const auto [at, added] =
      stream_ids_.try_emplace(PairKey(device, stream), static_cast<StreamId>(streams_.size()));
  if (added) streams_.push_back(Stream{device, stream});
  return at->second;
}

CategoryId Vocabulary::InternCategory(std::string_view in_file) {
  const StringId name = strings.Intern(CurrentCategoryName(in_file));
  for (size_t i = 0; i < categories_.size(); ++i) {
    if (categories_[i].name == name) return static_cast<CategoryId>(i);
  }
  const CategoryMeaning meaning = MeaningOfCategory(strings.View(name));
  Category category{name, meaning.kind, meaning, strings.View(name) == "Trace"};
  if (category.kind == SliceKind::kOther && !category.is_window &&
      ++other_categories_ > kMostOtherCategories) {
    if (shared_category_ >= 0) return static_cast<CategoryId>(shared_category_);
    shared_category_ = static_cast<int>(categories_.size());
    category.name = strings.Intern("(other)");
  }
  categories_.push_back(category);
  return static_cast<CategoryId>(categories_.size() - 1);
}

ArgsShapeId Vocabulary::AddArgsShape(ArgsShape shape) {
  args_shapes_.push_back(std::move(shape));
  return static_cast<ArgsShapeId>(args_shapes_.size() - 1);
}

LaunchId Vocabulary::InternLaunch(const LaunchSizes& sizes) {
  if (sizes == launches_.front()) return LaunchId::kNone;
  const size_t hash = LaunchSizesHash()(sizes);
  for (auto [at, end] = launch_ids_.equal_range(hash); at != end; ++at) {
    if (launches_[Index(at->second)] == sizes) return at->second;
  }
  launch_ids_.emplace(hash, static_cast<LaunchId>(launches_.size()));
  launches_.push_back(sizes);
  return static_cast<LaunchId>(launches_.size() - 1);
}

size_t Vocabulary::MemoryBytes() const {
  size_t bytes =
      strings.MemoryBytes() + processes_.capacity() * sizeof(Process) +
      tracks_.capacity() * sizeof(Track) + metrics_.capacity() * sizeof(Metric) +
      streams_.capacity() * sizeof(Stream) + args_shapes_.capacity() * sizeof(ArgsShape) +
      launches_.capacity() * sizeof(LaunchSizes) + launch_ids_.size() * 6 * sizeof(void*);
  for (const ArgsShape& shape : args_shapes_) {
    bytes += shape.text.capacity() + shape.slots.capacity() * sizeof(ArgsShape::Slot) +
             shape.entries.capacity() * sizeof(ArgsShape::Entry);
  }
  return bytes;
}

}  // namespace tacho

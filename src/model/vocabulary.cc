#include "model/vocabulary.h"

#include <utility>

namespace tacho {
namespace {

uint64_t PairKey(StringId a, StringId b) {
  return (static_cast<uint64_t>(Index(a)) << 32) | Index(b);
}

}  // namespace

TrackId Vocabulary::InternTrack(StringId pid, StringId tid) {
  const auto [at, added] =
      track_ids_.try_emplace(PairKey(pid, tid), static_cast<TrackId>(tracks_.size()));
  if (added) tracks_.push_back(Track{.pid = pid, .tid = tid});
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
  if (categories_.size() == 256) return static_cast<CategoryId>(255);
  categories_.push_back({name, KindOfCategory(strings.View(name)), strings.View(name) == "Trace"});
  return static_cast<CategoryId>(categories_.size() - 1);
}

ArgsShapeId Vocabulary::AddArgsShape(ArgsShape shape) {
  args_shapes_.push_back(std::move(shape));
  return static_cast<ArgsShapeId>(args_shapes_.size() - 1);
}

size_t Vocabulary::MemoryBytes() const {
  size_t bytes = strings.MemoryBytes() + tracks_.capacity() * sizeof(Track) +
                 streams_.capacity() * sizeof(Stream) + args_shapes_.capacity() * sizeof(ArgsShape);
  for (const ArgsShape& shape : args_shapes_) {
    bytes += shape.text.capacity() + shape.slots.capacity() * sizeof(ArgsShape::Slot) +
             shape.entries.capacity() * sizeof(ArgsShape::Entry);
  }
  return bytes;
}

}  // namespace tacho

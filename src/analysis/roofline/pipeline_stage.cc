#include "analysis/roofline/pipeline_stage.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace tacho {
namespace {

// The layers of `stage` if the last `skipped` stages get no layer more than others.
std::vector<DecoderLayer> LayersOf(const std::vector<DecoderLayer>& all, int64_t stage,
                                   int64_t stages, int64_t skipped) {
  const int64_t count = std::ssize(all), more = count % stages;
  const auto begin_of = [&](int64_t of) {
    const int64_t first_with_more = stages - skipped - more;
    const int64_t extra = of <= first_with_more ? 0 : std::min(of - first_with_more, more);
    return all.begin() + of * (count / stages) + extra;
  };
  return {begin_of(stage), begin_of(stage + 1)};
}

}  // namespace

std::optional<DecoderShape> StageOfPipeline(const DecoderShape& model, int64_t stage,
                                            int64_t stages, size_t layers) {
  if (stages < 1 || stage < 0 || stage >= stages) return std::nullopt;
  std::optional<std::vector<DecoderLayer>> found;
  for (const int64_t skipped : {1, 0}) {
    std::vector<DecoderLayer> of = LayersOf(model.layers, stage, stages, skipped);
    if (of.size() != layers || of == found) continue;
    if (found) return std::nullopt;
    found = std::move(of);
  }
  if (!found) return std::nullopt;
  DecoderShape part = model;
  part.layers = std::move(*found);
  part.has_head = stage + 1 == stages;
  return part;
}

}  // namespace tacho

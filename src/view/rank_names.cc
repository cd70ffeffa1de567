#include "view/rank_names.h"

#include "analysis/names/classifier.h"

namespace tacho {

RankNames::RankNames(const Trace& trace, const StringPool& computed)
    : of_gpu_work_(trace.words.strings.size(), kNone),
      of_others_(trace.words.strings.size(), kNone),
      of_computed_(computed.size()) {
  for (size_t row = 0; row < trace.gpu.size(); ++row) {
    uint32_t& id = of_gpu_work_[static_cast<size_t>(trace.gpu.name[row])];
    if (id != kNone) continue;
    id = static_cast<uint32_t>(texts_.size());
    const std::string_view whole = trace.Text(trace.gpu.name[row]);
    const bool is_kernel = trace.gpu.kind[row] == SliceKind::kKernel;
    texts_.push_back(is_kernel ? short_names_.emplace_back(ShortKernelName(whole)) : whole);
  }
  const auto add = [&](StringId name) {
    uint32_t& id = of_others_[static_cast<size_t>(name)];
    if (id != kNone) return;
    id = static_cast<uint32_t>(texts_.size());
    texts_.push_back(trace.Text(name));
  };
  for (const SliceTable* table : {&trace.gpu_annotations, &trace.python_frames, &trace.annotations,
                                  static_cast<const SliceTable*>(&trace.host_ops),
                                  static_cast<const SliceTable*>(&trace.host_calls),
                                  static_cast<const SliceTable*>(&trace.others)}) {
    for (const StringId name : table->name) add(name);
  }
  for (const StringId name : trace.ranges.name) add(name);
  for (const StringId name : trace.instants.name) add(name);
  for (size_t i = 0; i < computed.size(); ++i) {
    of_computed_[i] = static_cast<uint32_t>(texts_.size());
    texts_.push_back(computed.View(static_cast<StringId>(i)));
  }
}

size_t RankNames::MemoryBytes() const {
  size_t bytes = texts_.size() * sizeof(std::string_view) +
                 (of_gpu_work_.size() + of_others_.size() + of_computed_.size()) * sizeof(uint32_t);
  for (const std::string& name : short_names_) bytes += sizeof(std::string) + name.size();
  return bytes;
}

}  // namespace tacho

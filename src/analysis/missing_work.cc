#include "analysis/missing_work.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tacho {

bool TellsOfGpu(const TraceHeader& header) {
  // Of torch.distributed's libraries those that start on no machine without an accelerator.
  static constexpr std::array<std::string_view, 3> kNeedGpu{"nccl", "xccl", "hccl"};
  return !header.devices.empty() || std::ranges::any_of(kNeedGpu, [&](std::string_view library) {
    return header.backend.find(library) != std::string::npos;
  });
}

RecordedWork WorkOf(const Trace& trace) {
  return {trace.gpu.size(), trace.host_ops.size(), trace.host_calls.size(),
          TellsOfGpu(trace.header)};
}

bool MayBeHostEngine(const RecordedWork& work, const Vocabulary& words, const EventCounts& counts) {
  if (work.gpu_events > 0 || work.host_calls > 0 || work.gpu_in_header || work.host_ops == 0) {
    return false;
  }
  static constexpr std::array<std::string_view, 7> kAccelerators{
      "mtia_", "hpu_", "glow_", "xpu_", "cuda_", "privateuse1_", "collective_comm"};
  const std::vector<Category>& categories = words.categories();
  for (size_t i = 0; i < categories.size(); ++i) {
    const std::string_view name = words[categories[i].name];
    if (counts.complete_by_category[i] > 0 &&
        std::ranges::any_of(kAccelerators, [&](auto prefix) { return name.starts_with(prefix); })) {
      return false;
    }
  }
  return true;
}

bool IsOfAStep(std::string_view operator_name, const Classifier& classifier) {
  const WorkCategory category = classifier.OfOperator(operator_name);
  const std::string_view name = classifier.categories()[category];
  return !classifier.IsCommunication(category) && !name.starts_with("bookkeeping") &&
         !name.starts_with("memory.");
}

bool LaunchesWork(std::string_view call) { return call.find("Launch") != std::string_view::npos; }

void NoteMissingWork(const RecordedWork& work, const EventCounts& counts, bool on_host,
                     Notes& notes) {
  // A rank that did nothing at all misses no GPU events, unless it has a GPU.
  const bool expects_gpu = work.gpu_in_header || work.host_ops + work.host_calls > 0;
  if (counts.total == 0) {
    notes.Add(NoteId::kNoEvents, "");
  } else if (work.gpu_events == 0 && work.no_engine_step && !on_host) {
    notes.Add(NoteId::kNoEngineStep, "");
  } else if (work.gpu_events == 0 && expects_gpu && !on_host) {
    notes.Add(NoteId::kNoGpuEvents, "");
  }
}

}  // namespace tacho

#include "analysis/device/missing_work.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tacho {

bool TellsOfGpu(const TraceHeader& header) {
  // Those libraries of torch.distributed that need an accelerator.
  static constexpr std::array<std::string_view, 3> kNeedGpu{"nccl", "xccl", "hccl"};
  return !header.devices.empty() || std::ranges::any_of(kNeedGpu, [&](std::string_view library) {
    return header.backend.find(library) != std::string::npos;
  });
}

RecordedWork WorkOf(const Trace& trace) {
  return {trace.gpu.size(), trace.host_ops.size(), trace.host_calls.size(),
          TellsOfGpu(trace.header)};
}

bool MayBeHostEngine(const RecordedWork& work, const TraceBasics& trace) {
  if (work.gpu_events > 0 || work.host_calls > 0 || work.gpu_in_header || work.host_ops == 0 ||
      trace.notes.CountOf(NoteId::kDeviceRowsNotRead) > 0) {
    return false;
  }
  const std::vector<Category>& categories = trace.words.categories();
  for (size_t i = 0; i < categories.size(); ++i) {
    if (trace.counts.complete_by_category[i] > 0 &&
        categories[i].meaning.sign != DeviceSign::kNone) {
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

bool LaunchesWork(std::string_view call) {
  static constexpr std::array<std::string_view, 3> kWords{"Launch", "launch", "InvokeKernel"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return call.find(word) != std::string_view::npos; });
}

void NoteMissingWork(const RecordedWork& work, const TraceBasics& trace, bool on_host,
                     Notes& notes) {
  const std::vector<Category>& categories = trace.words.categories();
  uint64_t ranges = 0;
  for (size_t i = 0; i < categories.size(); ++i) {
    const uint64_t count = trace.counts.complete_by_category[i];
    if (categories[i].meaning.sign == DeviceSign::kUnread) {
      notes.Add(NoteId::kDeviceRowsNotRead, trace.words[categories[i].name], count);
    }
    if (categories[i].meaning.sign == DeviceSign::kRangeProfiler) ranges += count;
  }
  // A rank that recorded nothing on the host is not expected to have GPU events, unless it has a
  // GPU.
  const bool expects_gpu = work.gpu_in_header || work.host_ops + work.host_calls > 0;
  if (trace.counts.total == 0) {
    notes.Add(NoteId::kNoEvents, "");
  } else if (work.gpu_events > 0 || on_host || work.no_rank) {
    return;
  } else if (ranges > 0) {
    notes.Add(NoteId::kRangeProfiler, "", ranges);
  } else if (notes.CountOf(NoteId::kDeviceRowsNotRead) > 0) {
    return;
  } else if (work.no_engine_step) {
    notes.Add(NoteId::kNoEngineStep, "");
  } else if (expects_gpu && !notes.ends_early()) {
    notes.Add(NoteId::kNoGpuEvents, "");
  }
}

}  // namespace tacho

#include "analysis/device/device_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/device/missing_work.h"
#include "analysis/host/host_work.h"
#include "analysis/index/gpu_scope.h"
#include "analysis/index/sorted_ids.h"
#include "analysis/index/stream_rows.h"

namespace tacho {
namespace {

// Caches categories: the classifier is asked once for each name.
class CategoryOfKernel {
 public:
  CategoryOfKernel(const Trace& trace, const Classifier& classifier)
      : trace_(trace), classifier_(classifier), known_(trace.words.strings.size(), kAsk) {}

  WorkCategory operator[](StringId name) {
    uint32_t& known = known_[Index(name)];
    if (known == kAsk) known = classifier_.OfKernel(trace_.Text(name));
    return static_cast<WorkCategory>(known);
  }

 private:
  static constexpr uint32_t kAsk = 0xffffffff;
  const Trace& trace_;
  const Classifier& classifier_;
  std::vector<uint32_t> known_;  // indexed by StringId
};

// The kind of work for each WorkCategory.
std::vector<WorkKind> KindsOfCategories(const Classifier& classifier) {
  std::vector<WorkKind> kinds;
  for (size_t i = 0; i < classifier.categories().size(); ++i) {
    kinds.push_back(classifier.IsCommunication(static_cast<WorkCategory>(i))
                        ? WorkKind::kCommunication
                        : WorkKind::kCompute);
  }
  return kinds;
}

std::vector<DeviceItems> CollectGpuItems(const TrackIndex& index, const Classifier& classifier,
                                         const Scope& scope) {
  const Trace& trace = index.trace();
  const GpuTable& gpu = trace.gpu;
  const std::vector<Stream>& streams = trace.words.streams();
  // All devices and streams of the trace, even those without work in the window.
  SortedIds devices;
  struct OfDevice {
    SortedIds ids;
    std::vector<size_t> streams;
  };
  std::map<std::string_view, OfDevice> streams_of;
  for (size_t i = 0; i < streams.size(); ++i) {
    const std::string_view device = trace.Text(streams[i].device);
    if (index.gpu().Of(i).empty() || (!scope.device.empty() && device != scope.device)) continue;
    devices.Add(device);
    OfDevice& of_device = streams_of[device];
    of_device.ids.Add(trace.Text(streams[i].stream));
    of_device.streams.push_back(i);
  }
  devices.Sort();

  CategoryOfKernel categories(trace, classifier);
  const std::vector<WorkKind> kinds = KindsOfCategories(classifier);
  std::vector<DeviceItems> result;
  for (const std::string& device : devices.ids()) {
    SortedIds& ids = streams_of[device].ids;
    ids.Sort();
    DeviceItems& collected = result.emplace_back();
    collected.device = device;
    collected.streams = ids.ids();
    std::vector<StreamRows> sorted;
    size_t count = 0;
    for (const size_t i : streams_of[device].streams) {
      sorted.emplace_back(index.gpu(), i, ids.IndexOf(trace.Text(streams[i].stream)));
      count += index.gpu().Of(i).size();
    }
    collected.items.reserve(count);
    TimeNs& end = collected.extent.end;
    MergeStreams(sorted, [&](const StreamRows& next) {
      if (!Touches(scope, next.when())) return;
      end = collected.items.empty() ? next.when().end : std::max(end, next.when().end);
      const uint32_t row = next.row();
      const SliceKind kind = gpu.kind[row];
      const bool is_kernel = kind == SliceKind::kKernel;
      const WorkCategory category =
          is_kernel ? categories[gpu.name[row]] : Classifier::kUnclassified;
      collected.items.push_back({.when = next.when(),
                                 .name = gpu.name[row],
                                 .row = row,
                                 .stream = next.number(),
                                 .category = category,
                                 .kind = is_kernel                    ? kinds[category]
                                         : kind == SliceKind::kMemcpy ? WorkKind::kCopy
                                                                      : WorkKind::kMemset});
    });
    if (!collected.items.empty()) collected.extent.start = collected.items.front().when.start;
  }
  return result;
}

}  // namespace

std::string_view WorkKindName(WorkKind kind) {
  static constexpr std::array<std::string_view, kWorkKinds> kNames{"compute", "communication",
                                                                   "copy", "memset"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<std::string> KindNames(size_t mask) {
  std::vector<std::string> names;
  for (size_t bit = 0; bit < kWorkKinds; ++bit) {
    if ((mask >> bit & 1) != 0) names.emplace_back(WorkKindName(static_cast<WorkKind>(bit)));
  }
  return names;
}

std::vector<CategoryRow> SortedCategories(std::vector<CategoryRow> rows) {
  std::erase_if(rows, [](const CategoryRow& row) { return row.count == 0 && row.total.ns == 0; });
  std::ranges::sort(rows, [](const CategoryRow& a, const CategoryRow& b) {
    return a.total != b.total ? a.total > b.total : a.category < b.category;
  });
  return rows;
}

bool Touches(const Scope& scope, Interval when) {
  if (!scope.window) return true;
  return scope.window->contains(when.start) || !when.Clip(*scope.window).empty();
}

DeviceWork CollectDeviceWork(const TrackIndex& index, const Classifier& classifier,
                             const Scope& scope) {
  const Trace& trace = index.trace();
  DeviceWork work;
  if (MayBeHostEngine(WorkOf(trace), trace)) {
    work = CollectHostWork(index, classifier, scope);
  } else {
    work.devices = CollectGpuItems(index, classifier, scope);
  }
  work.categories = classifier.categories();
  return work;
}

}  // namespace tacho

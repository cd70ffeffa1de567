#include "analysis/layers/module_check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/names/module_name.h"

namespace tacho {
namespace {

// The frames of the modules of one class. Modules of a class do not contain each other.
struct ModuleFrame {
  TrackId track;
  Interval when;
  uint32_t number = 0;
};
using FramesOfClass = std::vector<ModuleFrame>;

// The number of the module that is open on a thread at `t`.
std::optional<uint32_t> ModuleAt(const FramesOfClass& frames, TrackId track, TimeNs t) {
  const auto next = std::upper_bound(frames.begin(), frames.end(), std::pair(track, t),
                                     [](const auto& at, const ModuleFrame& of) {
                                       return at < std::pair(of.track, of.when.start);
                                     });
  if (next == frames.begin()) return std::nullopt;
  const ModuleFrame& frame = *std::prev(next);
  if (frame.track != track || frame.when.end <= t) return std::nullopt;
  return frame.number;
}

// Those classes that have `count` modules, with the numbers from 0.
std::vector<FramesOfClass> ClassesOf(const Trace& trace, uint32_t count) {
  std::map<StringId, ModuleName> names;
  std::map<std::string_view, std::set<uint32_t>> numbers;
  const SliceTable& frames = trace.python_frames;
  std::vector<bool> seen(trace.words.strings.size());
  for (size_t row = 0; row < frames.size(); ++row) {
    const StringId name = frames.name[row];
    if (seen[Index(name)]) continue;
    seen[Index(name)] = true;
    const auto module = ModuleNameOf(trace.Text(name));
    if (!module || !module->number) continue;
    names[name] = *module;
    numbers[module->of_class].insert(*module->number);
  }
  std::map<std::string_view, FramesOfClass> classes;
  if (names.empty()) return {};
  for (size_t row = 0; row < frames.size(); ++row) {
    const auto name = names.find(frames.name[row]);
    if (name == names.end()) continue;
    const std::set<uint32_t>& of_class = numbers[name->second.of_class];
    if (of_class.size() != count || *of_class.rbegin() != count - 1) continue;
    classes[name->second.of_class].push_back(
        {frames.track[row], frames.When(row), *name->second.number});
  }
  std::vector<FramesOfClass> result;
  for (auto& [name, of_class] : classes) {
    std::ranges::sort(of_class, {}, [](const ModuleFrame& frame) {
      return std::pair(frame.track, frame.when.start);
    });
    result.push_back(std::move(of_class));
  }
  return result;
}

}  // namespace

ModuleCheck CheckByModules(const PreparedTrace& prepared, const LayeredSteps& layers) {
  const Trace& trace = prepared.index.trace();
  ModuleCheck check;
  if (prepared.work.on_host || trace.python_frames.size() == 0) return check;
  const std::vector<FramesOfClass> classes = ClassesOf(trace, layers.count);
  if (classes.empty()) return check;
  const HostCallTable& calls = trace.host_calls;
  for (const StepLayers& step : layers.steps) {
    if (!step.counts()) continue;
    const std::vector<LayerSpan>& spans = step.structure->layers;
    uint32_t layer = 0;
    EachPiece(step.of, [&](size_t i, Interval own, DurationNs) {
      while (layer < spans.size() && i >= spans[layer].end) ++layer;
      if (layer >= spans.size() || i < spans[layer].begin) return;
      const uint32_t call = prepared.links.call_of_gpu[step.of.device->items[step.of.items[i]].row];
      bool same = false, other = false;
      for (const FramesOfClass& of_class : classes) {
        const auto module = ModuleAt(of_class, calls.track[call], calls.start[call]);
        same = same || module == layer;
        other = other || (module && *module != layer);
      }
      if (other)
        check.other += own.length();
      else if (same)
        check.same += own.length();
    });
  }
  return check;
}

}  // namespace tacho

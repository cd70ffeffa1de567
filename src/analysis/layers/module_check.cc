#include "analysis/layers/module_check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
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

// Finds the class of the layers: it has `count` modules, with the numbers from 0, and of several
// such classes its frames take longest. Returns its frames by track and time; empty without one.
class LayerFrames {
 public:
  LayerFrames(const Trace& trace, uint32_t count) {
    const SliceTable& frames = trace.python_frames;
    std::vector<uint32_t> module_of(trace.words.strings.size(), kUnseen);
    std::vector<uint32_t> rows;  // of modules
    for (uint32_t row = 0; row < frames.size(); ++row) {
      uint32_t& module = module_of[Index(frames.name[row])];
      if (module == kUnseen) module = ModuleOf(trace.Text(frames.name[row]));
      if (module != kNone) rows.push_back(row);
    }
    const auto module_at = [&](uint32_t row) -> const Module& {
      return modules_[module_of[Index(frames.name[row])]];
    };
    for (ModuleClass& of : classes_)
      of.fits = of.numbers.size() == count && *of.numbers.rbegin() == count - 1;
    for (const uint32_t row : rows) {
      ModuleClass& of = classes_[module_at(row).of_class];
      if (of.fits) of.time += frames.When(row).length();
    }
    const auto longest = std::ranges::max_element(classes_, {}, &ModuleClass::time);
    if (longest == classes_.end() || !longest->fits) return;
    for (const uint32_t row : rows) {
      const Module& module = module_at(row);
      if (&classes_[module.of_class] == &*longest)
        found_.push_back({frames.track[row], frames.When(row), module.number});
    }
    const auto by_time = [](const ModuleFrame& frame) {
      return std::pair(frame.track, frame.when.start);
    };
    if (!std::ranges::is_sorted(found_, {}, by_time)) std::ranges::sort(found_, {}, by_time);
  }

  [[nodiscard]] bool empty() const { return found_.empty(); }
  // The number of the module that is open on a thread at `t`. Fast if it is the same as last time.
  std::optional<uint32_t> At(TrackId track, TimeNs t) {
    if (!Holds(last_, track, t)) {
      const auto next = std::upper_bound(found_.begin(), found_.end(), std::pair(track, t),
                                         [](const auto& at, const ModuleFrame& frame) {
                                           return at < std::pair(frame.track, frame.when.start);
                                         });
      if (next == found_.begin()) return std::nullopt;
      last_ = static_cast<size_t>(next - found_.begin()) - 1;
    }
    return Holds(last_, track, t) ? std::optional(found_[last_].number) : std::nullopt;
  }

 private:
  static constexpr uint32_t kUnseen = 0xffffffff, kNone = kUnseen - 1;

  [[nodiscard]] bool Holds(size_t i, TrackId track, TimeNs t) const {
    const ModuleFrame& frame = found_[i];
    return frame.track == track && frame.when.start <= t && t < frame.when.end;
  }
  uint32_t ModuleOf(std::string_view frame) {
    const auto name = ModuleNameOf(frame);
    if (!name || !name->number) return kNone;
    const auto [at, is_new] = class_of_.try_emplace(name->of_class, classes_.size());
    if (is_new) classes_.emplace_back();
    classes_[at->second].numbers.insert(*name->number);
    modules_.push_back({at->second, *name->number});
    return static_cast<uint32_t>(modules_.size() - 1);
  }
  struct ModuleClass {
    std::set<uint32_t> numbers;
    bool fits = false;  // it may be the class of the layers
    DurationNs time;
  };
  struct Module {
    size_t of_class = 0;
    uint32_t number = 0;
  };
  std::map<std::string_view, size_t> class_of_;  // index into classes_
  std::vector<ModuleClass> classes_;
  std::vector<Module> modules_;
  std::vector<ModuleFrame> found_;
  size_t last_ = 0;
};

}  // namespace

ModuleCheck CheckByModules(const PreparedTrace& prepared, const LayeredSteps& layers) {
  const Trace& trace = prepared.index.trace();
  ModuleCheck check;
  if (prepared.work.on_host || trace.python_frames.size() == 0) return check;
  LayerFrames frames(trace, layers.count);
  if (frames.empty()) return check;
  const HostCallTable& calls = trace.host_calls;
  for (const StepLayers& step : layers.steps) {
    if (!step.counts()) continue;
    const std::vector<LayerSpan>& spans = step.structure->layers;
    uint32_t layer = 0, last_call = LaunchLinks::kNone;
    std::optional<uint32_t> module;  // at the last call; a graph's work has one call
    EachPiece(step.of, [&](size_t i, Interval own, DurationNs) {
      if (step.of.IsDraft(i)) return;
      const uint32_t call = prepared.links.call_of_gpu[step.of.Work(i).row];
      if (call != last_call) module = frames.At(calls.track[call], calls.start[call]);
      last_call = call;
      if (!module) return;
      while (layer < spans.size() && i >= spans[layer].end) ++layer;
      if (layer >= spans.size() || i < spans[layer].begin) return;
      (*module == layer ? check.same : check.other) += own.length();
    });
  }
  return check;
}

}  // namespace tacho

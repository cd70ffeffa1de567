#include "session/plan/measured_overhead.h"

#include <array>
#include <map>

#include "load/result/records.h"

namespace tacho {
namespace {

constexpr size_t kFigures = 4;
constexpr size_t kWindowsOfBlock = 4;

struct FiguresOfWindow {
  std::array<WindowFigure, kFigures> figures;
  bool failures = false;

  WindowFigure& operator[](OverheadFigureId id) { return figures[static_cast<size_t>(id)]; }
};

// The figures of one window: its steps, the tokens that came in it, the gaps between two tokens
// that both came in it, and the TTFT of requests that were sent after `calm_ns` and got their first
// token in the window.
FiguresOfWindow FiguresOf(const OverheadWindow& window, const LoadRecords& records) {
  FiguresOfWindow out;
  for (WindowFigure& figure : out.figures) figure.profiled = window.profiled;
  const auto inside = [&](int64_t at_ns) {
    return at_ns >= window.begin_ns && at_ns < window.end_ns;
  };
  out[OverheadFigureId::kStep].sum = window.steps_ns;
  out[OverheadFigureId::kStep].count = window.steps;
  WindowFigure& rate = out[OverheadFigureId::kThroughput];
  rate.count = static_cast<double>(window.end_ns - window.begin_ns) / 1e9;
  WindowFigure& itl = out[OverheadFigureId::kItl];
  WindowFigure& ttft = out[OverheadFigureId::kTtft];
  for (const RequestRecord& request : records.requests) {
    const bool failed =
        request.status == RequestStatus::kFailed || request.status == RequestStatus::kPartial;
    out.failures = out.failures || (failed && inside(request.ended_ns));
    for (size_t i = 0; i < request.chunk_ns.size(); ++i) {
      if (!inside(request.chunk_ns[i])) continue;
      rate.sum += request.chunk_tokens[i];
      if (i == 0 || !inside(request.chunk_ns[i - 1])) continue;
      itl.sum += static_cast<double>(request.chunk_ns[i] - request.chunk_ns[i - 1]);
      itl.count += request.chunk_tokens[i];
    }
    if (inside(request.first_token_ns) && request.sent_ns >= window.calm_ns &&
        !request.first_unsure) {
      ttft.sum += static_cast<double>(request.first_token_ns - request.sent_ns);
      ++ttft.count;
    }
  }
  return out;
}

}  // namespace

std::string_view NameOf(OverheadFigureId id) {
  constexpr std::array<std::string_view, kFigures> kNames = {"throughput", "step", "itl", "ttft"};
  return kNames[static_cast<size_t>(id)];
}

const OverheadFigure* Overhead::Find(OverheadFigureId id) const {
  const auto at = static_cast<size_t>(id);
  return at < figures.size() && figures[at].estimate ? &figures[at] : nullptr;
}

std::vector<bool> OrderOfBlock(size_t block) {
  if (block % 2 == 0) return {false, true, true, false};
  return {true, false, false, true};
}

void MeasureOverhead(const LoadRecords& records, Overhead& overhead) {
  std::map<size_t, std::vector<FiguresOfWindow>> blocks;
  for (const OverheadWindow& window : overhead.windows)
    blocks[window.block].push_back(FiguresOf(window, records));
  std::array<std::vector<OverheadBlock>, kFigures> figures;
  overhead.blocks = overhead.blocks_with_failures = 0;
  for (const auto& [block, windows] : blocks) {
    // Skips an incomplete block: a drift of the engine's speed would weigh on one side only.
    if (windows.size() < kWindowsOfBlock) continue;
    bool failures = false;
    for (const FiguresOfWindow& window : windows) failures = failures || window.failures;
    // What a dead server loses is not a cost of profiling.
    ++(failures ? overhead.blocks_with_failures : overhead.blocks);
    if (failures) continue;
    for (size_t i = 0; i < kFigures; ++i) {
      OverheadBlock& all = figures[i].emplace_back();
      for (const FiguresOfWindow& window : windows) all.push_back(window.figures[i]);
    }
  }
  overhead.figures.clear();
  for (size_t i = 0; i < kFigures; ++i) {
    OverheadFigure& figure = overhead.figures.emplace_back();
    figure.id = static_cast<OverheadFigureId>(i);
    figure.estimate = EstimateOverhead(figures[i]);
    if (figure.estimate)
      figure.verdict = VerdictOf(*figure.estimate, IsTime(figure.id), overhead.asked.precision);
  }
}

}  // namespace tacho

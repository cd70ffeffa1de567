#include "analysis/requests/prompt_reads.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tacho {
namespace {

class PromptReader {
 public:
  PromptReader(const std::vector<StepLabel>& labels, const std::vector<PromptToRead>& prompts,
               const std::vector<uint32_t>& earliest)
      : labels_(labels), prompts_(prompts), earliest_(earliest), order_(prompts.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::ranges::stable_sort(order_, {}, [&](size_t i) { return prompts[i].last_step; });
    for (size_t i = 0; i < prompts.size(); ++i)
      reads_.push_back({earliest[i], prompts[i].last_step});  // Read() narrows it if it can
  }

  std::vector<PromptReads> Read() {
    for (uint32_t step = 0; step < labels_.size() && next_ < order_.size(); ++step) {
      size_t end = next_;
      while (end < order_.size() && prompts_[order_[end]].last_step == step) ++end;
      if (labels_[step].context_requests != 0 || end > next_) ReadStep(step, end);
      next_ = end;
    }
    return std::move(reads_);
  }

 private:
  // The prompt that a step left half read.
  struct HalfRead {
    std::vector<size_t> candidates;  // the prompt is one of these
    uint32_t first_step = 0;
    int64_t tokens = 0;  // how many of its tokens were read so far
  };

  // Assigns what `step` reads. It completes the prompts order_[next_, end).
  void ReadStep(uint32_t step, size_t end) {
    const HalfRead half = std::exchange(half_, {});
    const auto is_candidate = [&](size_t prompt) {
      return std::ranges::find(half.candidates, prompt) != half.candidates.end();
    };
    const StepLabel& label = labels_[step];
    bool known = label.context_tokens >= 0 && label.context_requests >= 0, completes_half = false;
    int64_t needs = 0;
    for (size_t i = next_; i < end; ++i) {
      known = known && prompts_[order_[i]].tokens.has_value();
      needs = AddSaturated(needs, prompts_[order_[i]].tokens.value_or(0));
      completes_half = completes_half || is_candidate(order_[i]);
    }
    if (completes_half) needs -= half.tokens;
    const int64_t more = label.context_tokens - needs;
    const auto requests = static_cast<int64_t>(end - next_) + (more > 0 ? 1 : 0);
    const auto lose = [&] {
      unsure_.clear();
      lost_ = true;
    };
    if (!known || more < 0 || requests != label.context_requests) return lose();
    HalfRead after = half;
    if (half.candidates.empty() || completes_half) after = {CompletedNext(end, step), step, 0};
    after.tokens += more;
    std::erase_if(after.candidates,
                  [&](size_t prompt) { return *prompts_[prompt].tokens <= after.tokens; });
    if (after.tokens > 0 && after.candidates.empty()) return lose();
    for (size_t i = next_; i < end; ++i) {
      const size_t prompt = order_[i];
      const bool may_be_half = completes_half && is_candidate(prompt);
      const PromptReads reads = {
          may_be_half ? half.first_step : step,
          may_be_half && half.candidates.size() == 1 ? half.first_step : step};
      if (lost_) {
        unsure_.emplace_back(prompt, reads);
      } else {
        reads_[prompt] = reads;
      }
    }
    if (after.tokens > 0) {
      half_ = std::move(after);
      return;
    }
    // Nothing is half read, so the steps since `lost_` was set were assigned rightly.
    for (const auto& [prompt, reads] : unsure_) reads_[prompt] = reads;
    unsure_.clear();
    lost_ = false;
  }

  // If the prompts order_[0, from) are complete: the prompts that are completed next, all by the
  // same step. Leaves out prompts of unknown length, and prompts that `step` is too early to have
  // read.
  [[nodiscard]] std::vector<size_t> CompletedNext(size_t from, uint32_t step) const {
    std::vector<size_t> found;
    for (size_t i = from; i < order_.size(); ++i) {
      const PromptToRead& prompt = prompts_[order_[i]];
      if (prompt.last_step != prompts_[order_[from]].last_step) break;
      if (prompt.tokens && earliest_[order_[i]] <= step) found.push_back(order_[i]);
    }
    return found;
  }

  const std::vector<StepLabel>& labels_;
  const std::vector<PromptToRead>& prompts_;
  const std::vector<uint32_t>& earliest_;
  std::vector<size_t> order_;  // indices of prompts, sorted by last_step
  std::vector<PromptReads> reads_;
  size_t next_ = 0;  // index into `order_`: the first prompt that is not complete
  HalfRead half_;
  // True at the start, and after a step that could not be assigned. In both cases, a prompt may be
  // half read although `half_` does not say so. Results wait in `unsure_` until a step leaves
  // nothing half read.
  bool lost_ = true;
  std::vector<std::pair<size_t, PromptReads>> unsure_;
};

}  // namespace

std::vector<PromptReads> FindPromptReads(const std::vector<StepLabel>& labels,
                                         const std::vector<PromptToRead>& prompts,
                                         const std::vector<uint32_t>& earliest) {
  return PromptReader(labels, prompts, earliest).Read();
}

}  // namespace tacho

#include "analysis/roofline/block_work.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tacho {
namespace {

using Part = StepTokens::Part;

Part ContextOf(const StepLabel& label, std::optional<int64_t> mean_k) {
  Part part;
  part.requests = static_cast<double>(label.context_requests);
  part.q = static_cast<double>(label.context_tokens);
  part.k = static_cast<double>(label.context_k);
  part.qk = static_cast<double>(label.context_qk);
  part.qq = static_cast<double>(label.context_qq);
  if (part.requests == 0) return {};
  if (part.k >= 0 && part.qk >= 0 && part.qq >= 0) return part;
  if (!mean_k) {
    part.k = part.qk = part.qq = -1;
    return part;
  }
  // Prompts that are read at once: the new tokens are all that there are.
  part.k = part.q;
  part.qk = part.qq = part.q * part.q / part.requests;
  return part;
}

Part GenerationOf(const StepLabel& label, std::optional<int64_t> mean_k) {
  Part part;
  part.requests = static_cast<double>(label.generation_requests);
  part.q = static_cast<double>(label.generation_tokens);
  part.k = static_cast<double>(label.generation_k);
  part.qk = static_cast<double>(label.generation_qk);
  if (part.requests == 0) return {};
  if (part.k >= 0 && part.qk < 0 && part.q == part.requests) part.qk = part.k;
  if (part.k >= 0 && part.qk >= 0) return part;
  if (!mean_k) {
    part.k = part.qk = -1;
    return part;
  }
  part.k = std::max(part.requests * static_cast<double>(*mean_k), part.q);
  part.qk = part.q * part.k / part.requests;
  return part;
}

// How many pairs of a query and a key attention computes if a query sees only the `window` tokens
// up to it. All requests of `part` count as equally long.
double PairsInWindow(const Part& part, double window) {
  if (part.requests == 0) return 0;
  const double q = part.q / part.requests, before = (part.k - part.q) / part.requests;
  const double growing = std::clamp(window - before, 0.0, q);  // queries that see all before them
  return part.requests * (growing * before + growing * growing / 2 + (q - growing) * window);
}

// Adds up the work of one rank.
class Sums {
 public:
  Sums(const DecoderShape& model, int64_t ranks, const StepTokens& tokens,
       std::optional<double> link_share)
      : m_(model),
        ranks_(static_cast<double>(ranks)),
        tokens_(tokens),
        rows_(tokens.context.q + tokens.generation.q),
        link_share_(link_share.value_or(2 * (ranks_ - 1) / ranks_)) {}

  void AddLayer(const DecoderLayer& layer, double count) {
    count_ = count;
    Projections();
    Attention(static_cast<double>(layer.window));
    AllReduce();
    if (layer.mlp > 0) {
      Mlp(static_cast<double>(layer.mlp), LayerBlock::kMlpUp, LayerBlock::kMlpDown);
    } else {
      Experts(static_cast<double>(layer.experts));
      if (layer.shared_expert > 0)
        Mlp(static_cast<double>(layer.shared_expert), LayerBlock::kSharedExpert,
            LayerBlock::kSharedExpert);
    }
    AllReduce();
  }
  // A request whose prompt is read needs the logits of one token only. A request whose answer is
  // made needs the logits of each new token, because the engine verifies proposed tokens with them.
  void AddHead() {
    count_ = 1;
    Product(LayerBlock::kLmHead, tokens_.context.requests + tokens_.generation.q,
            static_cast<double>(m_.hidden), static_cast<double>(m_.vocabulary) / ranks_, {});
  }

  [[nodiscard]] std::vector<BlockWork> Work() const {
    std::vector<BlockWork> work;
    for (size_t i = 0; i < kLayerBlocks; ++i) {
      if (sums_.at(i).flops + sums_.at(i).bytes + sums_.at(i).link_bytes == 0) continue;
      work.push_back(sums_.at(i));
      work.back().block = static_cast<LayerBlock>(i);
    }
    return work;
  }

 private:
  BlockWork& Of(LayerBlock block) { return sums_.at(static_cast<size_t>(block)); }

  void Product(LayerBlock block, double rows, double inner, double columns,
               const WeightFormat& weights) {
    BlockWork& of = Of(block);
    of.math = weights.math;
    of.flops += count_ * 2 * rows * inner * columns;
    of.bytes +=
        count_ * (rows * (inner + columns) * m_.activation_bytes + inner * columns * weights.bytes);
  }

  void Projections() {
    const auto hidden = static_cast<double>(m_.hidden);
    const double heads = static_cast<double>(m_.heads) / ranks_;
    const auto in = [&](double inner, double columns) {
      Product(LayerBlock::kInputProjection, rows_, inner, columns, m_.weights);
    };
    double values = heads * static_cast<double>(m_.head_size);
    if (m_.latent == 0) {
      in(hidden, (heads + 2 * KvHeads()) * static_cast<double>(m_.head_size));
    } else {
      // The products of latent attention: the query, in two steps if it has a low rank; the latent
      // of key and value, which each rank computes whole; and the product from the latent to the
      // heads. Attention may absorb this last product, which then is as much work.
      const auto rank = static_cast<double>(m_.query_rank);
      const auto latent = static_cast<double>(m_.latent);
      const double query = heads * static_cast<double>(m_.nope_size + m_.rope_size);
      if (rank > 0) in(hidden, rank);
      in(rank > 0 ? rank : hidden, query);
      in(hidden, latent + static_cast<double>(m_.rope_size));
      in(latent, heads * static_cast<double>(m_.nope_size + m_.value_size));
      values = heads * static_cast<double>(m_.value_size);
    }
    Product(LayerBlock::kOutputProjection, rows_, values, hidden, m_.weights);
  }

  [[nodiscard]] double KvHeads() const {
    return std::max(1.0, static_cast<double>(m_.kv_heads) / ranks_);
  }

  void Attention(double window) {
    Part context = tokens_.context, generation = tokens_.generation;
    if (context.k < 0 || generation.k < 0) return;
    double context_pairs = context.qk - context.qq / 2, generation_pairs = generation.qk;
    double context_cached = context.k - context.q, generation_cached = generation.k - generation.q;
    if (window > 0) {
      context_pairs = std::min(context_pairs, PairsInWindow(context, window));
      generation_pairs = std::min(generation_pairs, generation.q * window);
      context_cached = std::min(context_cached, context.requests * window);
      generation_cached = std::min(generation_cached, generation.requests * window);
    }
    BlockWork& of = Of(LayerBlock::kAttention);
    of.math = m_.attention;
    const double heads = static_cast<double>(m_.heads) / ranks_;
    if (m_.latent == 0) {
      const auto size = static_cast<double>(m_.head_size);
      of.flops += count_ * 2 * heads * 2 * size * (context_pairs + generation_pairs);
      of.bytes += count_ * 2 * size *
                  (rows_ * (heads + KvHeads()) * m_.activation_bytes +
                   (context_cached + generation_cached) * KvHeads() * m_.cache_bytes);
      return;
    }
    // For prompts, attention uses the keys and values of each head. For answers, it uses the latent
    // itself as the key and the value of all heads.
    const auto latent = static_cast<double>(m_.latent), rope = static_cast<double>(m_.rope_size);
    const auto head = static_cast<double>(m_.nope_size + m_.rope_size + m_.value_size);
    of.flops +=
        count_ * 2 * heads * (head * context_pairs + (2 * latent + rope) * generation_pairs);
    of.bytes +=
        count_ * ((2 * heads * head * context.q + heads * (2 * latent + rope) * generation.q) *
                      m_.activation_bytes +
                  (context_cached + generation.k) * (latent + rope) * m_.cache_bytes);
  }

  void AllReduce() {
    if (ranks_ < 2) return;
    Of(LayerBlock::kCollective).link_bytes +=
        count_ * link_share_ * rows_ * static_cast<double>(m_.hidden) * m_.activation_bytes;
  }

  void Mlp(double width, LayerBlock up, LayerBlock down) {
    const auto hidden = static_cast<double>(m_.hidden);
    Product(up, rows_, hidden, (m_.gated ? 2 : 1) * width / ranks_, m_.weights);
    Product(down, rows_, width / ranks_, hidden, m_.weights);
  }

  // The ranks share the experts, or the width of each: the mean is the same.
  void Experts(double experts) {
    const auto hidden = static_cast<double>(m_.hidden);
    const auto chosen = static_cast<double>(m_.experts_per_token);
    const double used = experts * (1 - std::pow((experts - chosen) / experts, rows_)) / ranks_;
    const auto width = static_cast<double>(m_.expert_width);
    const auto product = [&](LayerBlock block, double inner, double columns, double read,
                             double written) {
      BlockWork& of = Of(block);
      of.math = m_.expert_weights.math;
      of.flops += count_ * 2 * rows_ * chosen * inner * columns / ranks_;
      of.bytes += count_ * (used * inner * columns * m_.expert_weights.bytes +
                            (read + written) * m_.activation_bytes);
    };
    const double matrices = m_.gated ? 2 : 1;
    Product(LayerBlock::kRouter, rows_, hidden, experts, {});
    product(LayerBlock::kExpertsUp, hidden, matrices * width, rows_ * hidden,
            rows_ * chosen * matrices * width / ranks_);
    product(LayerBlock::kExpertsDown, width, hidden, rows_ * chosen * width / ranks_,
            rows_ * hidden);
  }

  const DecoderShape& m_;
  double ranks_;
  const StepTokens& tokens_;
  double rows_;
  double link_share_;
  double count_ = 1;
  std::array<BlockWork, kLayerBlocks> sums_{};
};

}  // namespace

std::optional<StepTokens> TokensOf(const StepLabel& label, std::optional<int64_t> mean_k) {
  if (label.context_requests < 0 || label.generation_requests < 0 || label.context_tokens < 0 ||
      label.generation_tokens < 0 || label.context_tokens + label.generation_tokens == 0)
    return std::nullopt;
  return StepTokens{ContextOf(label, mean_k), GenerationOf(label, mean_k)};
}

std::vector<BlockWork> WorkOfStep(const DecoderShape& model, int64_t ranks,
                                  const StepTokens& tokens, std::optional<double> link_share) {
  Sums sums(model, ranks, tokens, link_share);
  // Equal layers have equal work.
  std::vector<std::pair<DecoderLayer, double>> kinds;
  for (const DecoderLayer& layer : model.layers) {
    const auto kind = std::ranges::find(kinds, layer, &std::pair<DecoderLayer, double>::first);
    if (kind == kinds.end()) {
      kinds.emplace_back(layer, 1);
    } else {
      ++kind->second;
    }
  }
  for (const auto& [layer, count] : kinds) sums.AddLayer(layer, count);
  if (model.has_head) sums.AddHead();
  return sums.Work();
}

}  // namespace tacho

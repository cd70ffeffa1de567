#include "analysis/layers/layer_spans.h"

#include <algorithm>
#include <map>
#include <optional>

namespace tacho {
namespace {

class LayerFinder {
 public:
  explicit LayerFinder(std::span<const LayerRole> roles) : roles_(roles) {}

  std::vector<LayerSpan> Find() {
    GroupMixers();
    if (layers_.size() < 2) return {};
    FindFirstBegin();
    size_t kept = 1;
    for (size_t i = 1; i < layers_.size(); ++i) {
      LayerSpan& before = layers_[kept - 1];
      if (const std::optional<size_t> begin = BeginOf(layers_[i], before)) {
        layers_[kept] = layers_[i];
        layers_[kept++].begin = *begin;
      } else {  // without products of its own: more mixers of the layer before
        before.mixer_end = layers_[i].mixer_end;
      }
    }
    layers_.resize(kept);
    if (layers_.size() < 2) return {};
    for (size_t i = 0; i + 1 < layers_.size(); ++i) layers_[i].end = layers_[i + 1].begin;
    FindLastEnd();
    return layers_;
  }

 private:
  // Two mixers belong to the same layer unless both a norm and a product stand between them.
  void GroupMixers() {
    bool norm = false, product = false;
    for (size_t i = 0; i < roles_.size(); ++i) {
      norm |= IsNorm(roles_[i]);
      product |= IsProduct(roles_[i]);
      const bool part = roles_[i] == LayerRole::kMixerPart && !layers_.empty() && !product;
      if (!IsMixer(roles_[i]) && !part) continue;
      if (IsMixer(roles_[i]) && (layers_.empty() || (norm && product)))
        layers_.push_back({0, i, i, 0});
      layers_.back().mixer_end = i + 1;
      norm = product = false;
    }
  }

  void FindFirstBegin() {
    LayerSpan& first = layers_.front();
    size_t from = first.mixer;
    while (from > 0 && roles_[from - 1] != LayerRole::kEmbedding) --from;
    const auto place = [&](size_t at) { return roles_.begin() + static_cast<ptrdiff_t>(at); };
    const auto mixer = place(first.mixer);
    // A product may prepare the input before the first norm, so the layer begins at the norm.
    auto begin = std::find_if(place(from), mixer, IsNorm);
    products_ = static_cast<size_t>(std::count_if(begin, mixer, IsProduct));
    if (products_ == 0) {  // the norm is not known as one, or is part of another kernel
      begin = std::find_if(place(from), mixer, IsProduct);
      products_ = 1;
    }
    first.begin = static_cast<size_t>(begin - roles_.begin());
    has_norm_ = std::ranges::any_of(roles_, IsNorm);
  }

  // Walks back from the index `mixer` past `count` matrix products. Returns the index of the next
  // norm before them; nullopt if there is none at `least` or later.
  [[nodiscard]] std::optional<size_t> NormBefore(size_t mixer, size_t count, size_t least) const {
    size_t products = 0;
    for (size_t i = mixer; i-- > least;) {
      if (IsProduct(roles_[i])) {
        if (products == count) return std::nullopt;
        ++products;
      }
      if (products != count) continue;
      if (has_norm_ ? IsNorm(roles_[i]) : IsProduct(roles_[i])) return i;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<size_t> BeginOf(const LayerSpan& layer,
                                              const LayerSpan& before) const {
    const size_t mixer = layer.mixer, least = before.mixer_end;
    if (roles_[mixer] == roles_[layers_.front().mixer]) {
      if (const auto begin = NormBefore(mixer, products_, least)) return begin;
    }
    // The mixer is of another kind than that of the first layer, or the layer has another number of
    // products. So tries one product between the norm and the mixer, then two.
    for (size_t count = 1; count <= 2; ++count) {
      if (const auto begin = NormBefore(mixer, count, least)) return begin;
    }
    return std::nullopt;
  }

  [[nodiscard]] size_t ProductsAfter(const LayerSpan& layer) const {
    return static_cast<size_t>(
        std::count_if(roles_.begin() + static_cast<ptrdiff_t>(layer.mixer_end),
                      roles_.begin() + static_cast<ptrdiff_t>(layer.end), IsProduct));
  }

  // The last norm after the last mixer, if at most one product (for the logits) comes after it.
  [[nodiscard]] std::optional<size_t> FinalNorm() const {
    size_t products = 0;
    for (size_t i = roles_.size(); i-- > layers_.back().mixer_end;) {
      if (IsNorm(roles_[i])) return i;
      products += roles_[i] == LayerRole::kExperts ? 2 : IsProduct(roles_[i]) ? 1 : 0;
      if (products > 1) return std::nullopt;
    }
    return std::nullopt;
  }

  // Where the last layer ends if it has as many products after its mixer as `peer` has.
  [[nodiscard]] size_t EndLike(const LayerSpan& peer) const {
    size_t left = ProductsAfter(peer);
    size_t at = layers_.back().mixer_end;
    for (; at < roles_.size(); ++at) {
      if (IsProduct(roles_[at])) {
        if (left == 0) break;
        --left;
      } else if (left == 0 &&
                 (IsNorm(roles_[at]) || roles_[at] == LayerRole::kSampling ||
                  roles_[at] == LayerRole::kIndex || roles_[at] == LayerRole::kTransfer)) {
        break;
      }
    }
    return at;
  }

  void FindLastEnd() {
    LayerSpan& last = layers_.back();
    // The last layer is compared with the nearest earlier layer that has the same kind of mixer. If
    // there is none, with the layer before it.
    auto peer = std::find_if(layers_.rbegin() + 1, layers_.rend(), [&](const LayerSpan& layer) {
      return roles_[layer.mixer] == roles_[last.mixer];
    });
    if (peer == layers_.rend()) peer = layers_.rbegin() + 1;
    last.end = EndLike(*peer);
    if (TellingRoles(roles_, last.mixer_end, last.end) !=
        TellingRoles(roles_, peer->mixer_end, peer->end))
      last.end = FinalNorm().value_or(last.end);
  }

  std::span<const LayerRole> roles_;
  std::vector<LayerSpan> layers_;
  bool has_norm_ = false;
  size_t products_ = 0;  // number of products in the first layer from its norm to its mixer
};

}  // namespace

std::vector<LayerRole> TellingRoles(std::span<const LayerRole> roles, size_t begin, size_t end) {
  std::vector<LayerRole> telling;
  size_t sides = 0;
  for (size_t i = begin; i < end; ++i) {
    if (roles[i] == LayerRole::kSide) {
      ++sides;
    } else if (!SaysNothing(roles[i])) {
      telling.push_back(roles[i]);
    }
  }
  telling.insert(telling.end(), sides, LayerRole::kSide);
  return telling;
}

bool AreRegular(std::span<const LayerRole> roles, std::span<const LayerSpan> layers) {
  constexpr size_t kFewLayers = 4;
  std::map<std::vector<LayerRole>, size_t> alike;
  std::vector<size_t*> of_layer;
  size_t with_mlp = 0;
  for (const LayerSpan& layer : layers) {
    const std::vector<LayerRole> work = TellingRoles(roles, layer.begin, layer.end);
    if (std::ranges::find(work, LayerRole::kEmbedding) != work.end()) return false;
    of_layer.push_back(&alike[work]);
    ++*of_layer.back();
    const std::vector<LayerRole> after = TellingRoles(roles, layer.mixer_end, layer.end);
    const bool experts = std::ranges::find(after, LayerRole::kExperts) != after.end();
    with_mlp += experts || std::ranges::count_if(after, IsProduct) >= 2 ? 1 : 0;
  }
  if (with_mlp != 0 && with_mlp != layers.size()) return false;
  // The first and the last layer may differ from the others: their norm may be fused into another
  // kernel, and the last layer may end with a transfer to another pipeline stage.
  const size_t ends = layers.size() < kFewLayers ? 0 : 1;
  for (size_t i = ends; i + ends < layers.size(); ++i) {
    if (*of_layer[i] < 2) return false;
    if (with_mlp == 0 && of_layer[i] != of_layer[ends]) return false;
  }
  return true;
}

std::vector<LayerSpan> FindLayerSpans(std::span<const LayerRole> roles) {
  return LayerFinder(roles).Find();
}

}  // namespace tacho

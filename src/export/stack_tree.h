#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/nesting.h"
#include "model/trace.h"

namespace tacho {

// Stacks of names, stored as a tree so that each stack is kept once. A node is a frame below its
// parent.
class StackTree {
 public:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Node {
    uint32_t parent = kNone;
    StringId name = StringId::kEmpty;
    int64_t ns = 0;  // free for the caller's sums
  };

  // The node for `name` below `parent` (kNone: at the top). Adds it if it is new.
  uint32_t Child(uint32_t parent, StringId name) {
    const auto [node, is_new] = children_.try_emplace(uint64_t{parent} << 32 | Index(name),
                                                      static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, name});
    return node->second;
  }
  // Adds a new root for a thread. It is separate from all other nodes.
  uint32_t AddRoot() {
    nodes_.emplace_back();
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  [[nodiscard]] size_t size() const { return nodes_.size(); }
  Node& operator[](uint32_t node) { return nodes_[node]; }
  const Node& operator[](uint32_t node) const { return nodes_[node]; }

  // The nodes from the outermost frame to `node`.
  [[nodiscard]] std::vector<uint32_t> PathTo(uint32_t node) const {
    std::vector<uint32_t> path;
    for (; node != kNone; node = nodes_[node].parent) path.push_back(node);
    return {path.rbegin(), path.rend()};
  }

 private:
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> children_;
};

}  // namespace tacho

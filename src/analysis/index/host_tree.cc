#include "analysis/index/host_tree.h"

#include <array>

namespace tacho {

HostTree NestHostSlices(const std::vector<HostRows>& tables) {
  HostTree tree;
  tree.track_begin.assign(tables.empty() ? 1 : tables.front().tracks() + 1, 0);
  std::array<const SliceTable*, static_cast<size_t>(SliceKind::kOther) + 1> table_of{};
  for (const HostRows& rows : tables) {
    table_of[static_cast<size_t>(rows.kind())] = &rows.table();
    for (size_t track = 0; track < rows.tracks(); ++track) {
      tree.track_begin[track + 1] += static_cast<uint32_t>(rows.Of(track).size());
    }
  }
  for (size_t i = 1; i < tree.track_begin.size(); ++i) {
    tree.track_begin[i] += tree.track_begin[i - 1];
  }
  tree.nodes.reserve(tree.track_begin.back());
  WalkHostSlices(tables, int32_t{-1}, [&](const HostSlice& slice, int32_t parent) {
    tree.nodes.push_back({.when = slice.when,
                          .name = table_of[static_cast<size_t>(slice.kind)]->name[slice.row],
                          .track = slice.track,
                          .kind = slice.kind,
                          .row = slice.row,
                          .parent = parent});
    return static_cast<int32_t>(tree.nodes.size() - 1);
  });
  return tree;
}

}  // namespace tacho

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/layers/layer_roles.h"
#include "analysis/prepared_trace.h"

namespace tacho {

// The work of one step on one device, sorted by start, with a role for each piece.
struct StepRoles {
  uint32_t step = 0;  // index into StepTable::steps
  const DeviceItems* device = nullptr;
  std::vector<uint32_t> items;   // indexes into the device's items, without `draft`
  std::vector<LayerRole> roles;  // one for each of `items`
  bool several_streams = false;  // the mixers are on more than one stream
  // Work of a draft model, as indexes into the device's items.
  std::vector<uint32_t> draft = {};
  bool draft_is_named = false;  // annotations name it

  // All pieces of work: those of `items`, then those of `draft`.
  [[nodiscard]] size_t pieces() const { return items.size() + draft.size(); }
  [[nodiscard]] bool IsDraft(size_t piece) const { return piece >= items.size(); }
  [[nodiscard]] const WorkItem& Work(size_t piece) const {
    return device->items[IsDraft(piece) ? draft[piece - items.size()] : items[piece]];
  }
};

// The draft model's work is what the host launches in an annotation of it (IsDraft). If a step
// verifies tokens (Step::verifies) and has no such work, it is what follows the sampling of
// the verified tokens, up to the last sampling: two mixers or more stand before it, one after it.
//
// One entry for each device and step whose work is known completely, sorted by device, then step.
// Steps without work are left out. Cost: O(n) time, 5 bytes a piece of work.
std::vector<StepRoles> RolesOfSteps(const PreparedTrace& prepared);

}  // namespace tacho

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/layers/layer_roles.h"
#include "analysis/prepared_trace.h"

namespace tacho {

// The work of one step on one device, by start, with the role of each piece.
struct StepRoles {
  uint32_t step = 0;  // index into StepTable::steps
  const DeviceItems* device = nullptr;
  std::vector<uint32_t> items;   // indexes into the device's items
  std::vector<LayerRole> roles;  // of these
  bool several_streams = false;  // the mixers are on more than one stream
};

// Of each step whose work is all known, by device, then step. Steps without work are left out.
// Cost: O(n). Memory: 5 bytes a piece of work.
std::vector<StepRoles> RolesOfSteps(const PreparedTrace& prepared);

}  // namespace tacho

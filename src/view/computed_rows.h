#pragma once

#include <string>
#include <vector>

#include "analysis/device_work.h"
#include "analysis/idle.h"
#include "analysis/steps.h"
#include "base/string_pool.h"
#include "view/lane.h"
#include "view/palette.h"

namespace tacho {

// Slices that an analysis found, in a table like those of a trace.
struct ComputedSlices {
  StringPool names;
  SliceTable table;
  std::vector<uint8_t> color_of_name;

  // Appends a slice and returns its row. Slices of one name have one colour.
  uint32_t Add(Interval when, std::string_view name, uint8_t color);
};

// The ranges of a trace, then its instants, as slices. A range that was open when the recording
// ended goes on until the last slice's end.
SliceTable MarksOf(const Trace& trace);

// Rows of `slices` that belong together, in the order of time.
using ComputedRow = std::vector<uint32_t>;

// The steps of the engine, by phase (Palette::kPhases); named by phase and tokens:
// "decode 64 tokens".
ComputedRow AddSteps(const StepTable& steps, ComputedSlices& slices);
// When the device had any work (Palette::kExposure), and when it communicated: hidden while it
// computed, exposed while it did not.
ComputedRow AddBusy(const DeviceItems& device, ComputedSlices& slices);
ComputedRow AddCommunication(const DeviceItems& device, ComputedSlices& slices);
// The idle time of a device by cause (Palette::kIdle). `stretches`: of all devices, one after the
// other; `device`: index into DeviceWork::devices. Cost: O(log n) and that of the device's.
ComputedRow AddIdle(const std::vector<IdleStretch>& stretches, uint32_t device,
                    ComputedSlices& slices);

}  // namespace tacho

#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "analysis/device/idle.h"
#include "analysis/prepared_trace.h"
#include "base/string_pool.h"
#include "view/lane.h"
#include "view/palette.h"

namespace tacho {

// Slices that an analysis found, in a table like those of a trace.
struct ComputedSlices {
  StringPool names;
  SliceTable table;
  std::vector<uint8_t> color_of_name;

  // Appends a slice. Slices of one name have one colour.
  void Add(Interval when, std::string_view name, uint8_t color);

  std::array<StringId, kColors> last_of_color = {};  // the last name added: most slices repeat it
};

// The ranges of a trace, then its instants, as slices. A range that was open when the recording
// ended lasts until the last slice's end.
SliceTable MarksOf(const Trace& trace);

// Slices of a table that belong together, in the order of time.
using ComputedRow = RowList;

// The steps of the engine, by phase (Palette::kPhases); named by phase and tokens:
// "decode 64 tokens".
ComputedRow AddSteps(const StepTable& steps, ComputedSlices& slices);
// When the device had any work (Palette::kExposure); and when it communicated: hidden while it also
// computed, exposed while it did not.
ComputedRow AddBusy(const DeviceItems& device, ComputedSlices& slices);
ComputedRow AddCommunication(const DeviceItems& device, ComputedSlices& slices);
// The idle time of all devices by cause (Palette::kIdle), with the result of AttributeIdle.
struct IdleRows {
  IdleTable table;
  std::vector<ComputedRow> of_device;  // index into DeviceWork::devices
};
IdleRows AddIdle(const PreparedTrace& prepared, const InFlight* in_flight, size_t max_gaps,
                 ComputedSlices& slices);

}  // namespace tacho

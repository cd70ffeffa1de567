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

// Slices that come from an analysis, not from the file, in a table like those of a trace.
struct ComputedSlices {
  StringPool names;
  SliceTable table;
  std::vector<uint8_t> color_of_name;

  // Appends a slice. All slices with the same name must have the same colour.
  void Add(Interval when, std::string_view name, uint8_t color);

  // Speeds up Add: most slices have the same name as the last one of their colour.
  std::array<StringId, kColors> last_of_color = {};
};

// The ranges of a trace, then its instants, as slices. A range that was open when the recording
// ended gets the end of the trace's span as its end.
SliceTable MarksOf(const Trace& trace);

// The rows of ComputedSlices::table that one row of the timeline shows, in the order of time.
using ComputedRow = RowList;

// Adds the steps of the engine, coloured by phase (Palette::kPhases) and named by phase and tokens:
// "decode 64 tokens".
ComputedRow AddSteps(const StepTable& steps, ComputedSlices& slices);
// AddBusy adds the times in which the device had any work. AddCommunication adds the times in which
// it communicated: "hidden" while it also computed, else "exposed". Both use Palette::kExposure.
ComputedRow AddBusy(const DeviceItems& device, ComputedSlices& slices);
ComputedRow AddCommunication(const DeviceItems& device, ComputedSlices& slices);
// The idle time of all devices by cause (Palette::kIdle). AddIdle also returns the idle table, with
// at most `max_gaps` gaps.
struct IdleRows {
  IdleTable table;
  std::vector<ComputedRow> of_device;  // by index into DeviceWork::devices
};
IdleRows AddIdle(const PreparedTrace& prepared, const InFlight* in_flight, size_t max_gaps,
                 ComputedSlices& slices);

}  // namespace tacho

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/documents/report_parts.h"
#include "report/tables/result_tables.h"
#include "report/words/rank_text.h"
#include "text/format_number.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

// The cells of a row of MemoryDevicesTable, after its first column, the device.
std::vector<Cell> LevelCells(const DeviceMemory& memory, TimeNs origin) {
  const auto at = [&](TimeNs when) { return Cell((when - origin).ns); };
  const auto peak = [&](auto cell) { return memory.peak ? Cell(cell(*memory.peak)) : Cell(); };
  const auto growth = [&](auto cell) {
    return memory.growth ? Cell(cell(*memory.growth)) : Cell();
  };
  const bool reserved = memory.reserved_peak.has_value();
  return {peak([](const MemoryPeak& of) { return of.allocated; }),
          peak([&](const MemoryPeak& of) { return at(of.at); }),
          peak([](const MemoryPeak& of) { return CellOf(of.reserved); }),
          CellOf(memory.start.allocated),
          CellOf(memory.end.allocated),
          CellOf(memory.start.reserved),
          CellOf(memory.end.reserved),
          reserved ? Cell(memory.reserved_peak->bytes) : Cell(),
          reserved ? at(memory.reserved_peak->at) : Cell(),
          growth([](const MemoryGrowth& of) { return of.most; }),
          growth([&](const MemoryGrowth& of) { return at(of.most_at); }),
          growth([](const MemoryGrowth& of) { return of.end; }),
          CountCell(memory.allocations),
          CountCell(memory.frees)};
}

}  // namespace

void AddMemoryRemarks(Document& document, const MemoryTable& memory) {
  if (std::ranges::any_of(memory.devices, [](const DeviceMemory& of) { return !!of.growth; }))
    document.Add(
        Paragraph{"the allocator's totals were not recorded: grown is what was allocated less what "
                  "was released since the start"});
  if (memory.damaged > 0)
    document.Add(Paragraph{FormatCounted(memory.damaged, "event of memory is damaged",
                                         "events of memory are damaged") +
                               ", so no level can be told",
                           Paint::kYellow});
}

Table MemoryDevicesTable(const MemoryTable& memory, TimeNs origin, std::string title) {
  Table table{
      "memory",
      {Col{"device", std::move(title), kText}.Stretches(),
       Col{"peak_allocated_bytes", "peak", kBytes}.Means("most allocated bytes"),
       Col{"peak_at_ns", "at", kDuration}.Means(
           "time of the first moment of that, since the start of the trace's span"),
       Col{"peak_reserved_bytes", "reserved", kBytes}.Means("reserved bytes at that moment"),
       Col{"start_allocated_bytes", "at start", kBytes},
       Col{"end_allocated_bytes", "at end", kBytes}, Col{"start_reserved_bytes"}.FileOnly(),
       Col{"end_reserved_bytes"}.FileOnly(),
       Col{"reserved_peak_bytes", "most reserved", kBytes}.Means("most reserved bytes").GivesWay(2),
       Col{"reserved_peak_at_ns"}
           .Means("time of the first moment of that, since the start of the trace's span")
           .FileOnly(),
       Col{"most_grown_bytes", "most grown", kBytes}.Means(
           "most growth, where totals were not recorded"),
       Col{"most_grown_at_ns", "at", kDuration}.Means(
           "time of the first moment of that, since the start of the trace's span"),
       Col{"grown_bytes", "grown", kBytes}.Means(
           "growth at the end, where totals were not recorded"),
       Col{"allocations", "allocations", kCount}.GivesWay(),
       Col{"frees", "frees", kCount}.GivesWay(3)},
      {}};
  for (const DeviceMemory& device : memory.devices) {
    std::vector<Cell> cells = LevelCells(device, origin);
    cells.insert(cells.begin(), device.device);
    table.Add(std::move(cells));
  }
  return table;
}

Table MemoryPeakTable(std::span<const DeviceMemory> devices, std::string title) {
  Table table{"memory_peak",
              {Col{"operator", std::move(title), kText}
                   .Means("name of the operator; also `[no operator]`, `[before the recording]`, "
                          "`[not recorded]`, `[release not recorded]`")
                   .Stretches()
                   .Distinct(),
               Col{"inside", "inside", kText}.Stretches(),
               Col{"device", "device", kText}
                   .Means("device, as in `memory.csv`")
                   .FileOnly(devices.size() < 2),
               Col{"bytes", "bytes", kBytes}.Adds(),
               Col{"share", "of the peak", kShare}.Means("share of the peak").Adds(),
               Col{"blocks", "blocks", kCount}.Adds()},
              {}};
  for (const DeviceMemory& device : devices) {
    if (!device.peak || !device.peak->parts) continue;
    const MemoryParts& parts = *device.peak->parts;
    const auto add = [&](std::string name, const std::string& inside, int64_t bytes, Cell blocks) {
      table.Add({std::move(name), inside, device.device, bytes,
                 ShareOf({bytes}, {device.peak->allocated}), std::move(blocks)});
    };
    for (const OperatorBlocks& of : parts.operators)
      add(of.op.empty() ? "[no operator]" : of.op, of.inside, of.bytes, CountCell(of.blocks));
    const size_t operators = table.rows.size();
    if (parts.before != 0) add("[before the recording]", "", parts.before, Cell());
    if (parts.untold != 0)
      add(parts.untold > 0 ? "[not recorded]" : "[release not recorded]", "", parts.untold, Cell());
    table.never_folded = table.rows.size() - operators;
  }
  return table;
}

Table MemorySeriesTable(const MemoryTable& memory, TimeNs origin) {
  Table table{
      "memory_over_time",
      {Col{"device"}.Means("device, as in `memory.csv`"),
       Col{"at_ns", "", kDuration}.Means("start of the part, since the start of the trace's span"),
       Col{"allocated_bytes", "", kBytes}.Means("most allocated bytes in the part"),
       Col{"reserved_bytes", "", kBytes}.Means("most reserved bytes in the part"),
       Col{"grown_bytes", "", kBytes}.Means("most growth in the part")},
      {}};
  for (const DeviceMemory& device : memory.devices) {
    const MemorySeries& series = device.series;
    const size_t parts =
        std::max({series.allocated.size(), series.reserved.size(), series.grown.size()});
    const auto at = [](const std::vector<int64_t>& values, size_t i) {
      return i < values.size() ? Cell(values[i]) : Cell();
    };
    for (size_t i = 0; i < parts; ++i) {
      const int64_t from = series.step.ns * static_cast<int64_t>(i);
      table.Add({device.device, AddSaturated((series.start - origin).ns, from),
                 at(series.allocated, i), at(series.reserved, i), at(series.grown, i)});
    }
  }
  return table;
}

bool IsWorthShowing(const DeviceMemory& device, const MemoryTable& memory) {
  constexpr int64_t kOneIn = 100;
  return device.peak && std::ranges::none_of(memory.devices, [&](const DeviceMemory& other) {
           return other.peak && device.peak->allocated < other.peak->allocated / kOneIn;
         });
}

void AddMemory(Document& document, const MemoryTable& memory, TimeNs origin) {
  if (memory.empty()) return;
  if (memory.devices.empty()) document.AddPart(Heading{Heading::Level::kPart, "Memory"});
  document.AddPart(
      TitledTable{.table = MemoryDevicesTable(memory, origin, "device"), .title = "Memory"});
  AddMemoryRemarks(document, memory);
  for (const DeviceMemory& device : memory.devices) {
    if (!IsWorthShowing(device, memory)) continue;
    document.AddPart(TitledTable{.table = MemoryPeakTable({&device, 1}, "operator"),
                                 .title = "Alive at the peak of " + device.device,
                                 .screen_rows = kTopOperators});
  }
}

void AddMemoryOfRanks(Document& document, const RunAnalysis& run, size_t rows) {
  Table all = MemoryDevicesTable({}, {}, "device");
  all.columns.insert(all.columns.begin(), Col{"rank", "rank", kText}.Stretches());
  MemoryTable together;  // the devices of all ranks, for the remarks
  for (const TraceAnalysis* trace : RanksOf(run)) {
    const MemoryTable& memory = trace->memory;
    together.damaged += memory.damaged;
    together.devices.insert(together.devices.end(), memory.devices.begin(), memory.devices.end());
    for (TableRow& of : MemoryDevicesTable(memory, trace->run_zero()).rows) {
      of.cells.insert(of.cells.begin(), RankLabel(run.ranks, trace->path));
      all.rows.push_back(std::move(of));
    }
  }
  if (together.empty()) return;
  if (all.rows.empty()) document.AddPart(Heading{Heading::Level::kPart, "Memory"});
  document.AddPart(TitledTable{.table = std::move(all), .title = "Memory", .screen_rows = rows});
  AddMemoryRemarks(document, together);
}

}  // namespace tacho

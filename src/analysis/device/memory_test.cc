#include "analysis/device/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/trace_builder.h"

namespace tacho {
namespace {

using testing::ElementsAre;

struct Event {
  int64_t at = 0, bytes = 0, address = 0, allocated = 0, reserved = 0;
  int64_t type = 1, number = 0;
  std::string tid = "1";
  int64_t order = 0;
};

void Add(TraceBuilder& b, const Event& e, bool totals = true, bool addresses = true) {
  const std::string bytes = std::to_string(e.bytes), address = std::to_string(e.address),
                    allocated = std::to_string(e.allocated), reserved = std::to_string(e.reserved),
                    type = std::to_string(e.type), number = std::to_string(e.number),
                    order = std::to_string(e.order);
  TraceBuilder::Arguments args = {{"Bytes", bytes}, {"Device Type", type}, {"Device Id", number}};
  if (addresses) args.insert(args.end(), {{"Addr", address}, {"Ev Idx", order}});
  if (totals)
    args.insert(args.end(), {{"Total Allocated", allocated}, {"Total Reserved", reserved}});
  b.Instant("[memory]", e.at, args, e.tid);
}

Trace Build(const std::vector<Event>& events, bool totals = true, bool addresses = true) {
  TraceBuilder b;
  for (const Event& event : events) Add(b, event, totals, addresses);
  return std::move(b).Finish();
}

MemoryTable Tabulate(const Trace& trace, const Scope& scope = {}) {
  return TabulateMemory(TrackIndex(trace), scope);
}

std::vector<std::string> PartsOf(const MemoryPeak& peak) {
  std::vector<std::string> parts;
  for (const OperatorBlocks& of : peak.parts.value().operators)
    parts.push_back(of.op + (of.inside.empty() ? "" : " in " + of.inside) + ": " +
                    std::to_string(of.blocks) + " of " + std::to_string(of.bytes));
  return parts;
}

//  aten::linear  |0 .................... 100|
//  aten::addmm       |10 ......... 60|
//  aten::empty          |20 . 30|
//  blocks                  25 A   50 B       110 C   120 frees what was there
TEST(Memory, ThePeakIsMadeOfWhatIsAliveByOperator) {
  TraceBuilder b;
  b.Host("cpu_op", "aten::linear", {.start = 0, .duration = 100});
  b.Host("cpu_op", "aten::addmm", {.start = 10, .duration = 50});
  b.Host("cpu_op", "aten::empty", {.start = 20, .duration = 10});
  b.Host("cpu_op", "aten::other", {.tid = "2", .start = 0, .duration = 200});
  Add(b, {.at = 25, .bytes = 100, .address = 1, .allocated = 1100, .reserved = 2000});
  Add(b, {.at = 50, .bytes = 10, .address = 2, .allocated = 1110, .reserved = 2000});
  Add(b, {.at = 110, .bytes = 1, .address = 3, .allocated = 1111, .reserved = 3000});
  Add(b, {.at = 120, .bytes = -500, .address = 9, .allocated = 611, .reserved = 2500});
  const MemoryTable table = Tabulate(std::move(b).Finish());

  ASSERT_EQ(table.devices.size(), 1u);
  const DeviceMemory& memory = table.devices[0];
  EXPECT_EQ(memory.device, "cuda 0");
  EXPECT_EQ(memory.allocations, 3u);
  EXPECT_EQ(memory.frees, 1u);
  EXPECT_EQ(memory.start.allocated, 1000);
  EXPECT_EQ(memory.start.reserved, 2000);
  EXPECT_EQ(memory.end.allocated, 611);
  EXPECT_EQ(memory.end.reserved, 2500);
  EXPECT_EQ(memory.peak.value().allocated, 1111);
  EXPECT_EQ(memory.peak->at, TimeNs{110});
  EXPECT_EQ(memory.peak->reserved, 3000);
  EXPECT_EQ(memory.reserved_peak.value().bytes, 3000);
  EXPECT_EQ(memory.peak->parts.value().before, 1000);
  EXPECT_EQ(memory.peak->parts->untold, 0);
  EXPECT_THAT(PartsOf(*memory.peak),
              ElementsAre("aten::empty in aten::linear: 1 of 100",
                          "aten::addmm in aten::linear: 1 of 10", ": 1 of 1"));
  EXPECT_FALSE(memory.growth.has_value());
}

TEST(Memory, WhatIsReleasedOrReplacedIsNotAlive) {
  const MemoryTable table = Tabulate(Build({
      {.at = 1, .bytes = 50, .address = 1, .allocated = 150},
      {.at = 2, .bytes = -50, .address = 1, .allocated = 100},
      {.at = 3, .bytes = 70, .address = 1, .allocated = 170},   // the same address again
      {.at = 4, .bytes = -40, .address = 8, .allocated = 130},  // a block from before
      {.at = 5, .bytes = 20, .address = 1, .allocated = 80},    // 70 were released unseen
      {.at = 6, .bytes = 300, .address = 2, .allocated = 380},
  }));
  const MemoryPeak& peak = table.devices.at(0).peak.value();
  EXPECT_EQ(peak.allocated, 380);
  EXPECT_EQ(peak.parts.value().before, 60);
  EXPECT_EQ(peak.parts->untold, 0);
  EXPECT_EQ(PartsOf(peak), std::vector<std::string>{": 2 of 320"});
}

// A thread that was not recorded allocated 1000 bytes, and released a recorded block of 5.
TEST(Memory, WhatNoBlockAccountsForIsUntold) {
  const MemoryTable table = Tabulate(Build({
      {.at = 1, .bytes = 5, .address = 1, .allocated = 5},
      {.at = 9, .bytes = 10, .address = 2, .allocated = 1010},
  }));
  const MemoryPeak& peak = table.devices.at(0).peak.value();
  EXPECT_EQ(peak.parts.value().untold, 995);
  EXPECT_EQ(peak.parts->Sum(), 1010);
}

// Of equal times torch's count decides; without a release of its own each device is as if alone.
TEST(Memory, DevicesAreApart) {
  const MemoryTable table = Tabulate(Build({
      {.at = 1, .bytes = 5, .address = 7, .allocated = 5, .type = 0, .number = -1},
      {.at = 1, .bytes = 8, .address = 7, .allocated = 8, .reserved = 64, .number = 1},
      {.at = 1, .bytes = 9, .address = 7, .allocated = 9, .reserved = 64, .number = 0},
      {.at = 2, .bytes = -8, .address = 7, .allocated = 0, .reserved = 64, .number = 1},
      {.at = 3, .bytes = 1, .address = 8, .allocated = 1, .type = 99, .number = 0},
  }));
  std::vector<std::string> names;
  for (const DeviceMemory& memory : table.devices) names.push_back(memory.device);
  EXPECT_THAT(names, ElementsAre("cuda 0", "cuda 1", "device type 99 0", "cpu"));
  EXPECT_EQ(table.devices[0].end.allocated, 9);
  EXPECT_EQ(table.devices[1].end.allocated, 0);
  EXPECT_EQ(table.devices[1].peak.value().allocated, 8);
  // The CPU's allocator reserves nothing: torch writes 0, which is no figure.
  EXPECT_FALSE(table.devices[3].start.reserved.has_value());
  EXPECT_FALSE(table.devices[3].reserved_peak.has_value());
  EXPECT_FALSE(table.devices[3].peak.value().reserved.has_value());
  EXPECT_TRUE(table.devices[3].series.reserved.empty());
}

// torch 1.8 to 1.11 records only sizes.
TEST(Memory, WithoutTotalsThereIsGrowthAlone) {
  const MemoryTable table = Tabulate(Build(
      {{.at = 1, .bytes = -10}, {.at = 2, .bytes = 50}, {.at = 3, .bytes = -45}}, false, false));
  const DeviceMemory& memory = table.devices.at(0);
  EXPECT_FALSE(memory.start.allocated || memory.end.allocated || memory.start.reserved);
  EXPECT_FALSE(memory.peak || memory.reserved_peak);
  EXPECT_EQ(memory.growth.value().end, -5);
  EXPECT_EQ(memory.growth->most, 40);
  EXPECT_EQ(memory.growth->most_at, TimeNs{2});
  EXPECT_THAT(memory.series.grown, ElementsAre(0, 40, 40));  // starts with the level before
  EXPECT_TRUE(memory.series.allocated.empty());
}

TEST(Memory, WithoutAddressesTheOwnersAreNotTold) {
  const MemoryTable table =
      Tabulate(Build({{.at = 1, .bytes = 10, .allocated = 10, .reserved = 20}}, true, false));
  EXPECT_EQ(table.devices.at(0).peak.value().allocated, 10);
  EXPECT_FALSE(table.devices[0].peak->parts.has_value());
}

TEST(Memory, DamagedEventsAreCountedAndNoFigureIsMadeUp) {
  TraceBuilder b;
  Add(b, {.at = 1, .bytes = 10, .address = 1, .allocated = 10});
  b.Instant("[memory]", 2, {{"Bytes", "\"x\""}, {"Device Type", "1"}, {"Device Id", "0"}});
  b.Instant("[memory]", 3, {{"Bytes", "5"}, {"Device Id", "0"}});
  b.Instant("[memory]", 4);
  Add(b, {.at = 5, .bytes = int64_t{1} << 60, .address = 1, .allocated = 10});
  const MemoryTable table = Tabulate(std::move(b).Finish());
  EXPECT_EQ(table.damaged, 4u);
  ASSERT_EQ(table.devices.size(), 1u);
  EXPECT_EQ(table.devices[0].allocations, 1u);
  EXPECT_FALSE(table.devices[0].peak || table.devices[0].growth);
  EXPECT_FALSE(table.devices[0].start.allocated.has_value());
  // An impossible total counts as missing.
  for (const int64_t total : {int64_t{-1}, int64_t{1} << 60}) {
    const MemoryTable odd = Tabulate(Build(
        {{.at = 1, .bytes = 10, .allocated = 10}, {.at = 2, .bytes = 1, .allocated = total}}));
    EXPECT_FALSE(odd.devices.at(0).peak.has_value());
    EXPECT_EQ(odd.devices[0].growth.value().end, 11);
  }
}

TEST(Memory, OfATraceWithoutItThereIsNothing) {
  TraceBuilder b;
  b.Host("cpu_op", "aten::mm", {.start = 0, .duration = 10});
  b.Instant("Iteration Start", 5);
  EXPECT_TRUE(Tabulate(std::move(b).Finish()).empty());
}

TEST(Memory, AWindowHasItsOwnLevelsAndPeakButTheBlocksOfAll) {
  const Trace trace = Build({
      {.at = 10, .bytes = 100, .address = 1, .allocated = 300, .reserved = 400},
      {.at = 20, .bytes = 50, .address = 2, .allocated = 350, .reserved = 400},
      {.at = 30, .bytes = -100, .address = 1, .allocated = 250, .reserved = 400},
      {.at = 40, .bytes = 5, .address = 3, .allocated = 255, .reserved = 500},
  });
  const auto in = [&](int64_t from, int64_t to) {
    return Tabulate(trace, {.window = Interval{{from}, {to}}, .device = ""}).devices.at(0);
  };
  const DeviceMemory late = in(25, 41);
  EXPECT_EQ(late.start.allocated, 350);
  EXPECT_EQ(late.peak.value().allocated, 350);
  EXPECT_EQ(late.peak->at, TimeNs{25});
  EXPECT_EQ(late.peak->parts.value().before, 200);
  EXPECT_EQ(PartsOf(*late.peak), std::vector<std::string>{": 2 of 150"});
  EXPECT_EQ(late.allocations, 1u);
  EXPECT_EQ(late.frees, 1u);
  EXPECT_EQ(in(11, 15).peak.value().allocated, 300);
  EXPECT_EQ(in(11, 15).allocations, 0u);
  EXPECT_TRUE(Tabulate(trace, {.window = Interval{{50}, {60}}, .device = ""}).devices.empty());
  EXPECT_TRUE(Tabulate(trace, {.window = {}, .device = "1"}).devices.empty());
  EXPECT_EQ(Tabulate(trace, {.window = {}, .device = "0"}).devices.size(), 1u);
}

TEST(Memory, TheSeriesIsBoundedAndHasThePeak) {
  TraceBuilder b;
  b.Host("cpu_op", "aten::mm", {.start = 0, .duration = 1'000'000});
  std::vector<Event> events;
  for (int64_t i = 0; i < 5000; ++i) {
    const int64_t level = i == 3333 ? 9'999 : 1'000 + i % 7;
    Add(b, {.at = 100'000 + i * 100, .bytes = 1, .address = i, .allocated = level, .reserved = 1},
        true);
  }
  const DeviceMemory memory = Tabulate(std::move(b).Finish()).devices.at(0);
  const MemorySeries& series = memory.series;
  ASSERT_EQ(series.allocated.size(), MemorySeries::kMost);
  EXPECT_EQ(series.start, TimeNs{0});
  EXPECT_EQ(series.step, DurationNs{2000});
  EXPECT_EQ(series.allocated[0], 999);       // before the first event
  EXPECT_EQ(series.allocated.back(), 1001);  // the last level
  EXPECT_EQ(*std::ranges::max_element(series.allocated), memory.peak.value().allocated);
  EXPECT_EQ(series.allocated[static_cast<size_t>(memory.peak->at.ns / 2000)], 9'999);
}

TEST(Memory, HostileTimesAndSizesAreBounded) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const MemoryTable table = Tabulate(Build({
      {.at = -kMost, .bytes = int64_t{1} << 50, .address = kMost, .allocated = int64_t{1} << 50},
      {.at = kMost, .bytes = -(int64_t{1} << 50), .address = 3, .allocated = 0},
      {.at = 0, .bytes = int64_t{1} << 50, .address = -5, .allocated = int64_t{1} << 50},
  }));
  const DeviceMemory& memory = table.devices.at(0);
  EXPECT_LE(memory.series.allocated.size(), MemorySeries::kMost);
  EXPECT_EQ(memory.peak.value().parts.value().Sum(), memory.peak->allocated);
}

// Simulates a heap. A second, naive count of it gives the expected values.
TEST(Memory, PartsAddUpWhateverTheOrderOfTheFile) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    std::map<int64_t, int64_t> heap;
    int64_t total = 0, most = -1, before_at_most = 0;
    for (int64_t i = below(6); i > 0; --i) total += heap[-i] = 1 + below(1000);
    int64_t before = total;
    std::vector<Event> events;
    std::map<int64_t, std::pair<std::string, int64_t>> alive, alive_at_most;
    const auto note = [&] {
      if (total <= most) return;
      most = total;
      before_at_most = before;
      alive_at_most = alive;
    };
    note();
    for (int64_t i = 0; i < 80; ++i) {
      const std::string tid = std::to_string(1 + below(2));
      const int64_t at = i / 2 * 10;  // two events at each time
      const int64_t address = below(30) - 5;
      int64_t bytes = 1 + below(500);
      if (const auto held = heap.find(address); held != heap.end()) {
        bytes = -held->second;
        if (alive.erase(address) == 0) before += bytes;
        heap.erase(held);
      } else {
        heap[address] = bytes;
        alive[address] = {"op" + tid + "." + std::to_string(at / 100), bytes};
      }
      total += bytes;
      events.push_back({.at = at,
                        .bytes = bytes,
                        .address = address,
                        .allocated = total,
                        .reserved = 10'000,
                        .tid = tid,
                        .order = i});
      note();
    }
    std::map<std::string, int64_t> want;
    for (const auto& [address, block] : alive_at_most) want[block.first] += block.second;
    std::ranges::shuffle(events, random);
    TraceBuilder b;
    for (int64_t i = 0; i < 4; ++i)
      for (const char* tid : {"1", "2"})
        b.Host("cpu_op", "op" + std::string(tid) + "." + std::to_string(i),
               {.tid = tid, .start = i * 100, .duration = 100});
    for (const Event& event : events) Add(b, event);
    const DeviceMemory memory = Tabulate(std::move(b).Finish()).devices.at(0);
    ASSERT_EQ(memory.peak.value().allocated, most) << seed;
    ASSERT_EQ(memory.end.allocated, total) << seed;
    const MemoryParts& parts = memory.peak->parts.value();
    ASSERT_EQ(parts.Sum(), most) << seed;
    ASSERT_EQ(parts.untold, 0) << seed;
    ASSERT_EQ(parts.before, before_at_most) << seed;
    std::map<std::string, int64_t> got;
    for (const OperatorBlocks& of : parts.operators) got[of.op] += of.bytes;
    ASSERT_EQ(got, want) << seed;
  }
}

}  // namespace
}  // namespace tacho

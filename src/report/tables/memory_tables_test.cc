#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/documents/analyze_document.h"
#include "report/html/html_report.h"
#include "report/results_for_test.h"
#include "report/tables/result_tables.h"

namespace tacho {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// 500 bytes were there before. 7 operators have 10, 20, ... 70 bytes, and no owner is known for 20
// bytes.
DeviceMemory SevenOperators() {
  DeviceMemory memory;
  memory.device = "cuda 0";
  memory.allocations = 1'234;
  memory.frees = 1'000;
  memory.start = {500, 4'000};
  memory.end = {600, 5'000};
  MemoryParts parts;
  parts.before = 500;
  parts.untold = 20;
  for (int64_t i = 7; i > 0; --i)
    parts.operators.push_back(
        {"aten::op" + std::to_string(i), i == 7 ? "aten::outer" : "", 1, 10 * i});
  memory.peak =
      MemoryPeak{.at = {2'000'000}, .allocated = 800, .reserved = 4'500, .parts = std::move(parts)};
  memory.reserved_peak = ReservedPeak{{3'000'000}, 5'000};
  memory.series = {.start = {0},
                   .step = {1'000'000},
                   .allocated = {500, 700, 800, 600},
                   .reserved = {4'000, 4'500, 4'500, 5'000},
                   .grown = {}};
  return memory;
}

std::string Screen(const MemoryTable& memory) {
  Document document;
  AddMemory(document, memory, {});
  return RenderText(std::move(document), {});
}

TEST(Memory, ScreenHasLevelsAndTheFirstOperatorsAndAddsUp) {
  MemoryTable memory;
  memory.devices.push_back(SevenOperators());
  EXPECT_EQ(Screen(memory),
            "\n"
            " MEMORY   peak  at us  reserved  at start  at end  most reserved  allocations  frees\n"
            " cuda 0  800 B  2,000   4.50 kB     500 B   600 B        5.00 kB        1,234  1,000\n"
            "\n"
            " ALIVE AT THE PEAK OF CUDA 0  inside       bytes  of the peak %  blocks\n"
            " aten::op7                    aten::outer   70 B            8.8       1\n"
            " aten::op6                                  60 B            7.5       1\n"
            " aten::op5                                  50 B            6.2       1\n"
            " aten::op4                                  40 B            5.0       1\n"
            " aten::op3                                  30 B            3.8       1\n"
            " [2 others]                                 30 B            3.8       2\n"
            " [before the recording]                    500 B           62.5\n"
            " [not recorded]                             20 B            2.5\n");
}

TEST(Memory, OfASmallDeviceBesideALargeOneThereAreNoOperators) {
  MemoryTable memory;
  memory.devices = {SevenOperators(), SevenOperators()};
  memory.devices[1].device = "cpu";
  EXPECT_THAT(Screen(memory), HasSubstr("ALIVE AT THE PEAK OF CPU"));
  memory.devices[0].peak->allocated *= 101;
  EXPECT_THAT(Screen(memory),
              AllOf(HasSubstr("\n cpu "), Not(HasSubstr("ALIVE AT THE PEAK OF CPU"))));
}

TEST(Memory, WhatIsNotToldIsSaid) {
  MemoryTable memory;
  EXPECT_EQ(Screen(memory), "");
  memory.damaged = 2;
  EXPECT_THAT(Screen(memory),
              HasSubstr("MEMORY\n 2 events of memory are damaged, so no level can be told\n"));
  memory.damaged = 0;
  DeviceMemory old;
  old.device = "cuda 0";
  old.growth = MemoryGrowth{-5, 2'000, {4'000'000}};
  memory.devices.push_back(old);
  EXPECT_THAT(Screen(memory),
              AllOf(HasSubstr("most grown  at us  grown"), HasSubstr("2.00 kB  4,000"),
                    HasSubstr("totals were not recorded"), Not(HasSubstr("peak"))));
}

TEST(Memory, TheReportDrawsItAndARunHasARowForEachDevice) {
  RunAnalysis run = TwoRanksForTest();
  EXPECT_THAT(HtmlReport(run, {.title = "r"}), Not(HasSubstr("<h2>Memory</h2>")));
  for (TraceAnalysis& trace : run.traces) trace.memory.devices = {SevenOperators()};
  const std::string screen = RenderText(RunDocument(run, {}), {});
  EXPECT_THAT(screen,
              AllOf(HasSubstr(" MEMORY  device   peak  at us"), HasSubstr("cuda 0  800 B")));
  const std::string html = HtmlReport(run, {.title = "r"});
  EXPECT_THAT(html, AllOf(HasSubstr("<h2>Memory</h2>"), HasSubstr("Memory of cuda 0 over time"),
                          HasSubstr("</i>reserved"), HasSubstr("</i>allocated")));
}

}  // namespace
}  // namespace tacho

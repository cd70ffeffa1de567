#include "model/producer_line.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(ProducerLine, SaysThatEventsAreMissing) {
  for (const std::string_view line :
       {"Not all CUDA events might have been collected.",
        "Not all NVTX events might have been collected.",
        "WARNING:2026-01-08 08:51:59 8:3 CuptiActivityApi.cpp:47] Exceeded max GPU buffer count "
        "(33 >= 33) - terminating tracing",
        "WARNING: Exceeded max GPU buffer count (1001 > 1000)",
        "Device profiling activity collection was stopped early at step 1",
        "INFO:2024-02-08 10:38:45 9:9 CuptiActivityProfiler.cpp:294] Record counts: Out-of-range = "
        "0, Blocklisted runtime = 52, CUPTI stopped early? = 1",
        "WARNING: dropped 3 records", "12 activity records dropped",
        "Some CUDA events were dropped", "1,024 events were lost", "CUPTI buffer overflow"}) {
    EXPECT_EQ(MeaningOf(line), ProducerLine::kLostEvents) << line;
  }
}

TEST(ProducerLine, OfALineThatLooksAlikeNothingIsLost) {
  for (const std::string_view line :
       {"No CUDA events collected. Does the process use CUDA?",
        "CUDA profiling might have not been started correctly.", "Dropped 0 activity records",
        "0 records dropped", "No events were dropped", "",
        "INFO:2024-05-22 17:15:23 2:2 CuptiActivityProfiler.cpp:333] Record counts: Out-of-range = "
        "4181, Blocklisted runtime = 37458, CUPTI stopped early? = 0",
        "Dropped 17 CPU samples: the events came too fast",
        "ERROR:2026-01-08 08:51:59 865:3386 DeviceProperties.cpp:47] gpuGetDeviceCount failed",
        "CUDA device 0: Unified Memory cannot be traced on devices that don't support peer-to-peer "
        "transfers.Please verify that SLI/NVLink is functioning properly.",
        "Unable to collect CPU kernel IP samples and backtraces. perf event paranoid level is "
        "2."}) {
    EXPECT_EQ(MeaningOf(line), ProducerLine::kOther) << line;
  }
}

TEST(ProducerLine, NamesTheDriver) {
  EXPECT_EQ(MeaningOf("Installed CUDA driver version (13.3) is not supported by this build of "
                      "Nsight Systems. CUDA trace will be collected using libraries for driver "
                      "version 12.9"),
            ProducerLine::kUnsupportedDriver);
}

TEST(ProducerLine, EachLineIsNotedOnce) {
  TraceHeader header;
  header.producer_log = {"Not all CUDA events might have been collected.", "x",
                         "Installed CUDA driver version (13.3) is not supported", "y"};
  Notes notes;
  NoteProducerLines(header, notes);
  EXPECT_EQ(notes.CountOf(NoteId::kProducerLostEvents), 1u);
  EXPECT_EQ(notes.CountOf(NoteId::kUnsupportedDriver), 1u);
  EXPECT_EQ(notes.CountOf(NoteId::kProducerWarning), 2u);
  EXPECT_TRUE(notes.lost_data());
}

TEST(ProducerLine, ADriverThatIsUnsupportedIsTheRemedyOfWhatIsMissing) {
  Notes notes;
  notes.Add(NoteId::kNoGpuEvents, "");
  EXPECT_EQ(RemedyOf(NoteId::kNoGpuEvents, notes), KindOf(NoteId::kNoGpuEvents).remedy);
  notes.Add(NoteId::kUnsupportedDriver, "");
  EXPECT_EQ(RemedyOf(NoteId::kNoGpuEvents, notes), KindOf(NoteId::kUnsupportedDriver).remedy);
  EXPECT_EQ(RemedyOf(NoteId::kProducerLostEvents, notes),
            KindOf(NoteId::kUnsupportedDriver).remedy);
  EXPECT_EQ(RemedyOf(NoteId::kTruncatedJson, notes), KindOf(NoteId::kTruncatedJson).remedy);
}

}  // namespace
}  // namespace tacho

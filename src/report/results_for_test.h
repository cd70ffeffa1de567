#pragma once

#include "analysis/analyze.h"

namespace tacho {

// Results as the analyses would give them, small enough to check by hand.

// One GPU, window 1000 us: a kernel of 400 us, one of 200 us that overlaps it for 50 us, a copy of
// 50 us; 400 us idle, 300 us of them because the host launched late.
inline TraceAnalysis GpuTraceForTest() {
  TraceAnalysis t;
  t.path = "run/rank0.pt.trace.json.gz";
  t.bytes = 1'234;
  t.json_bytes = 56'789;
  t.header.base_time_ns = 1'700'000'000'000'000'000;
  t.header.devices.push_back({"0", "NVIDIA H200", 150'000'000'000, 132, 9, 0});
  t.facts.engine = "vllm";
  t.facts.engine_version = "0.11.0";
  t.facts.rank = t.facts.identity.rank = 0;
  t.facts.world_size = t.facts.identity.world_size = 2;
  t.facts.by_phase = {{"M", 2}, {"X", 7}};
  t.facts.by_category = {{"cpu_op", 2}, {"kernel", 2}};
  t.facts.options = {"record_shapes"};
  t.facts.cannot_tell = {"which Python code ran, because with_stack was off"};
  t.span = {{10'000}, {1'210'000}};
  t.counts.total = 9;
  t.notes.Add(NoteId::kOrphanGpuEvents, "stream 7", 1);

  DeviceTime device;
  device.device = "0";
  device.gpu_events = 3;
  device.window = {{110'000}, {1'110'000}};
  device.busy = {600'000};
  device.idle = {400'000};
  device.compute = {550'000};
  device.exposed_copy = {50'000};
  device.kernel_sum = {600'000};
  device.kernel_busy = {550'000};
  device.copy_busy = {50'000};
  device.by_kinds[0] = {400'000};
  device.by_kinds[1] = {550'000};
  device.by_kinds[4] = {50'000};
  device.by_concurrency[0] = {400'000};
  device.by_concurrency[1] = {550'000};
  device.by_concurrency[2] = {50'000};
  device.gaps = {2, 2, 2, 2, 0, {300'000}};
  StreamTime& stream = device.streams.emplace_back();
  stream = {"7", 3, {650'000}, {600'000}, 1, {}, {}};
  stream.by_kind = {DurationNs{600'000}, {}, DurationNs{50'000}, {}};
  stream.categories = {{"gemm.dense", 1, {400'000}}, {"norm", 1, {200'000}}, {"copy", 1, {50'000}}};
  t.devices.push_back(device);

  t.kernels.rows.push_back({"void gemm<128, \"x\">(int)",
                            "gemm.dense",
                            "0",
                            {1, {400'000}, {400'000}, {400'000}, {400'000}, {400'000}, {400'000}}});
  t.kernels.rows.push_back({"norm\x1b[31m_kernel",
                            "norm",
                            "0",
                            {1, {200'000}, {200'000}, {200'000}, {200'000}, {200'000}, {200'000}}});
  t.kernels.categories = {{"gemm.dense", 1, {400'000}}, {"norm", 1, {200'000}}};
  t.kernels.total = {600'000};
  t.kernels.coverage = 1;

  CopyRow copy;
  copy.kind = "HtoD";
  copy.count = 1;
  copy.total = {50'000};
  copy.bytes = 1'000'000;
  copy.pageable = 1;
  t.copies.copies.push_back(copy);

  t.launches.gpu_events = 3;
  t.launches.with_launch = 2;
  t.launches.without_launch = 1;
  t.launches.max_gpu_events_per_launch = 1;
  t.launches.delay = {2, {14'000}, {4'000}, {10'000}, {4'000}, {10'000}, {10'000}};
  t.launches.queues.push_back({"0", "7", 2, 0.75});
  t.launches.apis.push_back(
      {"cudaLaunchKernel", {2, {12'000}, {5'000}, {7'000}, {5'000}, {7'000}, {7'000}}});

  t.ops.rows.push_back(
      {"aten::mm", "", false, 2, {90'000}, {70'000}, {400'000}, {400'000}, {90'000}, {400'000}});
  t.ops.rows.push_back({"aten::empty", "", false, 4, {30'000}, {30'000}, {0}, {0}, {30'000}, {0}});

  t.steps.method = "annotated";
  t.steps.steps.push_back(
      {{Phase::kPrefill, 1, 32, 0, 0}, {{10'000}, {500'000}}, DurationNs{600'000}});
  t.steps.steps.push_back({{Phase::kDecode, 0, 0, 1, 1}, {{610'000}, {1'110'000}}, std::nullopt});

  t.idle.window = {1'000'000};
  t.idle.busy = {600'000};
  t.idle.causes = {{IdleCause::kHostLate, {300'000}, 1}, {IdleCause::kUnknown, {100'000}, 1}};
  t.idle.gaps.push_back(
      {"0", {{510'000}, {810'000}}, "gemm", "norm", IdleCause::kHostLate, "aten::empty", "1/1"});
  t.idle.gaps.push_back(
      {"0", {{910'000}, {1'010'000}}, "norm", "Memcpy HtoD", IdleCause::kUnknown, "", ""});
  return t;
}

inline RunAnalysis OneTrace() {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  return run;
}

// Two ranks, each with GpuTraceForTest; rank 1 computes longer. The world size is 3, so rank 2 is
// missing.
inline RunAnalysis TwoRanksForTest() {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  run.traces.push_back(GpuTraceForTest());
  TraceAnalysis& second = run.traces[1];
  second.path = "run/rank1.pt.trace.json.gz";
  second.facts.rank = second.facts.identity.rank = 1;
  second.devices[0].busy = {700'000};
  second.devices[0].idle = {300'000};
  second.devices[0].compute = {650'000};
  second.devices[0].by_kinds[0] = {300'000};
  second.devices[0].by_kinds[1] = {650'000};
  second.devices[0].streams[0].sum = {750'000};
  second.devices[0].streams[0].busy = {700'000};
  second.devices[0].streams[0].by_kind[0] = {700'000};
  second.devices[0].streams[0].categories[0].total = {500'000};
  second.devices[0].kernel_sum = {700'000};
  second.devices[0].kernel_busy = {650'000};
  second.kernels.rows[0].stats = {1,         {500'000}, {500'000}, {500'000},
                                  {500'000}, {500'000}, {500'000}};
  second.kernels.categories[0].total = {500'000};
  second.kernels.total = {700'000};
  second.idle.busy = {700'000};
  second.idle.causes = {{IdleCause::kHostLate, {300'000}, 1}};
  run.ranks.world_size = 3;
  run.ranks.present = {0, 1};
  run.ranks.missing = {{"", 3, 1, {{2, 2}}, 1}};
  run.ranks.ranks_with_trace = 2;
  run.ranks.ranks_in_all = 3;
  for (const TraceAnalysis& trace : run.traces) {
    const DeviceTime& device = trace.devices[0];
    RankRow row;
    row.path = trace.path;
    row.rank = trace.facts.rank;
    row.identity = trace.facts.identity;
    row.window = device.window.length();
    row.busy = device.busy;
    row.idle = device.idle;
    row.compute = device.compute;
    row.exposed_copy = device.exposed_copy;
    row.kernel_sum = device.kernel_sum;
    row.steps = trace.steps.steps.size();
    run.ranks.rows.push_back(row);
  }
  run.ranks.rows[1].group = 1;
  run.ranks.least_busy = run.ranks.least_busy_of_all = 0.6;
  run.ranks.most_busy = run.ranks.most_busy_of_all = 0.7;
  run.ranks.recordings = 1;
  run.ranks.slowest = 1;
  run.ranks.slowest_compute = {650'000};
  run.ranks.median_of_others = {550'000};
  return run;
}

}  // namespace tacho

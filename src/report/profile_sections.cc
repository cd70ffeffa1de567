#include "report/profile_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analyze_text.h"
#include "report/result_tables.h"
#include "text/drawing.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kRule = 80;
constexpr size_t kUtilBar = 40;
constexpr size_t kGapRows = 10;

// 1.
std::string HardwareSection(const TraceAnalysis& trace, const TextStyle& style) {
  const TraceHeader& header = trace.header;
  std::string out = SmallTitle("Hardware & Config", style);
  for (const DeviceProperties& device : header.devices) {
    const bool used = std::any_of(trace.devices.begin(), trace.devices.end(),
                                  [&](const DeviceTime& time) { return time.device == device.id; });
    if (!used && trace.devices.size() > 0) continue;
    std::string text = device.name;
    if (device.total_memory_bytes > 0) text += ", " + FormatBytes(device.total_memory_bytes);
    if (device.num_sms > 0) text += fmt::format(", {} SMs", device.num_sms);
    out += Fact(fmt::format("GPU {}:", device.id), text);
  }
  if (TotalsOf(trace.devices).on_host) out += Fact("GPU:", "none (an engine on the CPU)");
  if (header.devices.size() > 1) {
    out += Fact("GPUs visible:", FormatCount(static_cast<int64_t>(header.devices.size())));
  }
  out += Fact("CUDA / HIP:", header.cuda_runtime_version);
  out += Fact("driver:", header.cuda_driver_version);
  out += Fact("NCCL:", header.nccl_version);
  out += Fact("backend:", header.backend);
  if (trace.facts.world_size) out += Fact("world size:", FormatCount(*trace.facts.world_size));
  if (header.process_group_count >= 0)
    out += Fact("process groups:", FormatCount(header.process_group_count));
  out += Fact("engine:", EngineText(trace.facts));
  return out + Fact("events:", FormatCount(static_cast<int64_t>(trace.counts.total)));
}

// 2.
std::string TimelineSection(const TraceAnalysis& trace, const DeviceTotals& totals,
                            const TextStyle& style) {
  std::string out = SmallTitle("Timeline", style);
  out += Fact("trace wall time:", FormatDuration(trace.span.length()));
  const std::string word = DeviceWord(totals);
  if (totals.window.ns == 0) return out + fmt::format("  no device work {}\n", Whereabouts(trace));
  const std::string sum =
      totals.devices > 1 ? fmt::format(" (sum over {} devices)", totals.devices) : "";
  out += Fact(word + " active span:", FormatDuration(totals.window) + sum);
  out += Fact(word + " busy:", FormatDuration(totals.busy));
  out += Fact(word + " idle (bubbles):", FormatDuration(totals.idle));
  const auto bar = [&](DurationNs part, std::string_view what) {
    const double share = ShareOf(part, totals.window);
    return fmt::format("  {} {:>5} %  {} {}\n", PadRight(Bar(share, kUtilBar, style), kUtilBar),
                       FormatPercent(share), word, what);
  };
  return out + "\n" + bar(totals.busy, "busy") + bar(totals.idle, "idle");
}

std::string NoKernel(const TraceAnalysis& trace) {
  return fmt::format("  no kernel {}\n", Whereabouts(trace));
}

// 3.
std::string BreakdownSection(const TraceAnalysis& trace, const TextStyle& style) {
  std::string out = SmallTitle("GPU Kernel Time Breakdown", style);
  if (trace.kernels.rows.empty()) return out + NoKernel(trace);
  uint64_t count = 0;
  for (const CategoryRow& row : trace.kernels.categories) count += row.count;
  out += fmt::format("  total kernel time: {} ({}, {} % of it classified)\n",
                     FormatDuration(trace.kernels.total), FormatCounted(count, "kernel"),
                     FormatPercent(trace.kernels.coverage));
  return out + IndentedTable(CategoriesTable(trace.kernels, "category"), style);
}

// 4.
std::string TopKernelsSection(const TraceAnalysis& trace, const ScreenOptions& options) {
  std::string out = SmallTitle(
      fmt::format("Top {} Individual Kernels (by total GPU time)", options.top), options.style);
  if (trace.kernels.rows.empty()) return out + NoKernel(trace);
  Table table = KernelsTable(trace.kernels, TotalsOf(trace.devices), options.style, "kernel");
  FoldRows(table, options.top);
  return out + IndentedTable(table, options.style);
}

// 7.
std::string GapsSection(const TraceAnalysis& trace, const TextStyle& style) {
  std::string out = SmallTitle("Top GPU Idle Gaps (Bubbles)", style);
  IdleTable longest = trace.idle;
  if (longest.gaps.size() > kGapRows) longest.gaps.resize(kGapRows);
  if (longest.gaps.empty()) return out + fmt::format("  no idle gap {}\n", Whereabouts(trace));
  return out + IndentedTable(IdleCausesTable(trace.idle, "all idle time"), style) + "\n" +
         IndentedTable(GapsTable(longest, trace.span.start, trace.devices.size() > 1, style, "gap"),
                       style);
}

// 8.
std::string StreamsSection(const TraceAnalysis& trace, const TextStyle& style) {
  std::string out = SmallTitle("Per-Stream GPU Activity", style);
  const Table table = StreamsTable(trace.devices, "stream");
  if (table.rows.empty()) return out + fmt::format("  no device work {}\n", Whereabouts(trace));
  return out + IndentedTable(table, style);
}

// 9.
std::string CommunicationSection(const TraceAnalysis& trace, const DeviceTotals& totals,
                                 const TextStyle& style) {
  std::string out = SmallTitle("Communication Overhead", style);
  for (const CategoryRow& row : trace.kernels.categories) {
    if (row.category != "comm" && !row.category.starts_with("comm.")) continue;
    out += Fact(row.category + ":",
                fmt::format("{} in {} ({} of kernel time)", FormatDuration(row.total),
                            FormatCounted(row.count, "kernel"),
                            FormatShare(row.total, trace.kernels.total)));
  }
  if (totals.comm_busy.ns == 0) {
    out += "  no communication on the device\n";
  } else {
    out += Fact("on the device:",
                fmt::format("{} (union), {} of the window", FormatDuration(totals.comm_busy),
                            FormatShare(totals.comm_busy, totals.window)));
    out += Fact("exposed:",
                fmt::format("{}, {} of the window; {} of it hidden by compute",
                            FormatDuration(totals.exposed_comm),
                            FormatShare(totals.exposed_comm, totals.window),
                            FormatShare(totals.comm_busy - totals.exposed_comm, totals.comm_busy)));
  }
  DurationNs gloo;
  uint64_t count = 0;
  for (const OpRow& row : trace.ops.rows) {
    if (row.name.find("gloo") == std::string::npos) continue;
    gloo += row.cpu_total;
    count += row.count;
  }
  if (count > 0) {
    out += Fact("Gloo on the host:",
                fmt::format("{} in {}", FormatDuration(gloo), FormatCounted(count, "call")));
  }
  return out;
}

std::string TraceSections(const TraceAnalysis& trace, const ScreenOptions& options) {
  const TextStyle& style = options.style;
  const DeviceTotals totals = TotalsOf(trace.devices);
  const std::string rank = trace.facts.rank ? fmt::format("rank {}, ", *trace.facts.rank) : "";
  std::string out =
      BigTitle("Profile Analysis: " + rank + VisibleText(trace.path, style.unicode), style);
  out += HardwareSection(trace, style) + TimelineSection(trace, totals, style) +
         BreakdownSection(trace, style) + TopKernelsSection(trace, options) +
         GraphSection(trace, style) + LocationsSection(trace, style) + GapsSection(trace, style) +
         StreamsSection(trace, style) + CommunicationSection(trace, totals, style) +
         BottleneckSection(trace, style) + CeilingSection(trace, style);
  for (const Note& note : trace.notes.list()) out += NoteLines(note, "", style);
  return out;
}

}  // namespace

std::string Fact(std::string_view label, const std::string& value) {
  constexpr size_t kLabel = 22;
  if (value.empty()) return "";
  return fmt::format("  {} {}\n", PadRight(VisibleText(label), kLabel), VisibleText(value));
}

std::string IndentedTable(const Table& table, const TextStyle& style) {
  std::string out;
  TextStyle narrower = style;
  narrower.width -= 1;
  for (const TextLine& line : RenderLines(table, narrower)) out += " " + line.text + "\n";
  return out;
}

std::string BigTitle(std::string_view title, const TextStyle& style) {
  std::string rule;
  for (size_t i = 0; i < kRule; ++i) rule += style.unicode ? "═" : "=";
  return fmt::format("\n{}\n{}\n{}\n", rule,
                     Painted(fmt::format("  {}", title), Paint::kBold, style), rule);
}

std::string SmallTitle(std::string_view title, const TextStyle& style) {
  const char* dashes = style.unicode ? "──" : "--";
  return "\n" + Painted(fmt::format("{} {} {}", dashes, title, dashes), Paint::kBold, style) + "\n";
}

CategoryRow CategoriesBelow(const KernelTable& kernels, std::string_view prefix) {
  CategoryRow sum{std::string(prefix), 0, {}};
  for (const CategoryRow& row : kernels.categories) {
    const bool below = row.category.starts_with(prefix) &&
                       (row.category.size() == prefix.size() || row.category[prefix.size()] == '.');
    if (!below) continue;
    sum.count += row.count;
    sum.total += row.total;
  }
  return sum;
}

std::string ProfileSections(const RunAnalysis& run, const ScreenOptions& options) {
  std::string out;
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  for (const TraceAnalysis* trace : ranks) out += TraceSections(*trace, options);
  if (ranks.size() > 1 || !run.ranks.missing.empty()) out += CrossRankSection(run, options.style);
  if (ranks.empty()) out += "no worker's trace among the files\n";
  if (const std::string others = OtherFilesText(run, options.style); !others.empty())
    out += "\n" + others;
  return out;
}

}  // namespace tacho

#include "report/profile/profile_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/tables/result_tables.h"
#include "report/words/integrity_words.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr size_t kGapRows = 10;

// Section 1.
void AddHardware(Document& document, const TraceAnalysis& trace) {
  const TraceHeader& header = trace.header;
  AddSection(document, "Hardware & Config");
  for (const DeviceProperties& device : header.devices) {
    const bool used = std::any_of(trace.devices.begin(), trace.devices.end(),
                                  [&](const DeviceTime& time) { return time.device == device.id; });
    if (!used && trace.devices.size() > 0) continue;
    std::string text = device.name;
    if (device.total_memory_bytes > 0) text += ", " + FormatBytes(device.total_memory_bytes);
    if (device.num_sms > 0) text += fmt::format(", {} SMs", device.num_sms);
    AddFact(document, fmt::format("GPU {}:", device.id), text);
  }
  if (TotalsOf(trace.devices).on_host) AddFact(document, "GPU:", "none (an engine on the CPU)");
  if (header.devices.size() > 1) {
    AddFact(document, "GPUs visible:", FormatCount(header.devices.size()));
  }
  AddFact(document, "CUDA / HIP:", header.cuda_runtime_version);
  AddFact(document, "driver:", header.cuda_driver_version);
  AddFact(document, "NCCL:", header.nccl_version);
  AddFact(document, "backend:", header.backend);
  if (trace.facts.world_size)
    AddFact(document, "world size:", FormatCount(*trace.facts.world_size));
  if (header.process_group_count >= 0)
    AddFact(document, "process groups:", FormatCount(header.process_group_count));
  AddFact(document, "engine:", EngineText(trace.facts));
  AddFact(document, "events:", FormatCount(trace.counts.total));
}

// Section 2.
void AddTimeline(Document& document, const TraceAnalysis& trace, const DeviceTotals& totals) {
  AddSection(document, "Timeline");
  AddFact(document, "trace wall time:", FormatDuration(trace.span.length()));
  const std::string word = DeviceWord(totals);
  if (totals.window.ns == 0) return AddLine(document, WhyNoDeviceTime(trace));
  const std::string sum =
      totals.devices > 1 ? fmt::format(" (sum over {} devices)", totals.devices) : "";
  AddFact(document, word + " active span:", FormatDuration(totals.window) + sum);
  AddFact(document, word + " busy:", FormatDuration(totals.busy));
  const DurationNs idle = totals.window - totals.busy;
  AddFact(document, word + (totals.whole ? " idle (bubbles):" : " idle, or unrecorded:"),
          FormatDuration(idle));
  const auto bar = [&](DurationNs part, std::string_view what) {
    const double share = ShareOf(part, totals.window);
    document.Add(
        DrawnLine{"", {share}, fmt::format(" {:>5} %  {} {}", FormatPercent(share), word, what)});
  };
  document.Add(Gap{});
  bar(totals.busy, "busy");
  bar(idle, totals.whole ? "idle" : kIdleOrUnrecorded);
}

void AddNoKernel(Document& document, const TraceAnalysis& trace) {
  AddLine(document, fmt::format("no kernel {}", Whereabouts(trace)));
}

// Section 3.
void AddBreakdown(Document& document, const TraceAnalysis& trace) {
  AddSection(document, "GPU Kernel Time Breakdown");
  if (trace.kernels.rows.empty()) return AddNoKernel(document, trace);
  uint64_t count = 0;
  for (const CategoryRow& row : trace.kernels.categories) count += row.count;
  AddLine(document, fmt::format("total kernel time: {} ({}, {} % of it classified)",
                                FormatDuration(trace.kernels.total), FormatCounted(count, "kernel"),
                                FormatPercent(trace.kernels.coverage)));
  document.Add(TitledTable{CategoriesTable(trace.kernels, "category")});
}

// Section 4.
void AddKernels(Document& document, const TraceAnalysis& trace, const ScreenOptions& options) {
  AddSection(document, fmt::format("Top {} Individual Kernels (by total GPU time)", options.top));
  if (trace.kernels.rows.empty()) return AddNoKernel(document, trace);
  document.Add(TitledTable{
      .table = KernelsTable(trace.kernels, TotalsOf(trace.devices), options.style, "kernel"),
      .screen_rows = options.top});
}

// Section 7.
void AddGaps(Document& document, const TraceAnalysis& trace, const TextStyle& style) {
  AddSection(document, "Top GPU Idle Gaps (Bubbles)");
  IdleTable longest = trace.idle;
  if (longest.gaps.size() > kGapRows) longest.gaps.resize(kGapRows);
  if (!trace.idle.known)
    return AddLine(document, "idle gaps cannot be told: " + WhyNoIdleTime(trace));
  if (longest.gaps.empty())
    return AddLine(document, fmt::format("no idle gap {}", Whereabouts(trace)));
  document.Add(TitledTable{IdleCausesTable(trace.idle, "all idle time")});
  document.AddPart(TitledTable{WithoutNumbers(
      GapsTable(longest, trace.span.start, trace.devices.size() > 1, style, "gap"))});
}

// Section 8.
void AddStreams(Document& document, const TraceAnalysis& trace) {
  AddSection(document, "Per-Stream GPU Activity");
  Table table = StreamsTable(trace.devices, "stream");
  if (table.rows.empty()) return AddLine(document, WhyNoDeviceTime(trace));
  document.Add(TitledTable{std::move(table)});
}

// Section 9.
void AddCommunication(Document& document, const TraceAnalysis& trace, const DeviceTotals& totals) {
  AddSection(document, "Communication Overhead");
  for (const CategoryRow& row : trace.kernels.categories) {
    if (row.category != "comm" && !row.category.starts_with("comm.")) continue;
    AddFact(document, row.category + ":",
            fmt::format("{} in {} ({} of kernel time)", FormatDuration(row.total),
                        FormatCounted(row.count, "kernel"),
                        FormatShare(row.total, trace.kernels.total)));
  }
  if (totals.window.ns == 0) {
    AddLine(document, WhyNoDeviceTime(trace));
  } else if (totals.comm_busy.ns == 0) {
    AddLine(document, "no communication on the device");
  } else {
    AddFact(document, "on the device:",
            fmt::format("{} (union), {} of the window", FormatDuration(totals.comm_busy),
                        FormatShare(totals.comm_busy, totals.window)));
    if (totals.whole)
      AddFact(document, "exposed:",
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
    AddFact(document, "Gloo on the host:",
            fmt::format("{} in {}", FormatDuration(gloo), FormatCounted(count, "call")));
  }
}

void AddTrace(Document& document, const TraceAnalysis& trace, const ScreenOptions& options) {
  const DeviceTotals totals = TotalsOf(trace.devices);
  const std::string rank = trace.facts.rank ? fmt::format("rank {}, ", *trace.facts.rank) : "";
  AddTitle(document, "Profile Analysis: " + rank + trace.path);
  AddHardware(document, trace);
  AddTimeline(document, trace, totals);
  AddBreakdown(document, trace);
  AddKernels(document, trace, options);
  AddGraphs(document, trace);
  AddGraphLocations(document, trace);
  AddGaps(document, trace, options.style);
  AddStreams(document, trace);
  AddCommunication(document, trace, totals);
  AddBottlenecks(document, trace);
  AddCeilings(document, trace);
  for (const Note& note : trace.notes.list()) document.Add(NoteRemark(note, trace.notes));
}

}  // namespace

void AddFact(Document& document, std::string label, std::string value) {
  document.Add(Labelled{std::move(label), {std::move(value)}, Paint::kPlain, true});
}

void AddTitle(Document& document, std::string title) {
  document.AddPart(Heading{Heading::Level::kTitle, std::move(title)});
}

void AddSection(Document& document, std::string title) {
  document.AddPart(Heading{Heading::Level::kSection, std::move(title)});
}

void AddLine(Document& document, std::string line) {
  document.Add(Paragraph{.text = std::move(line), .on_one_line = true});
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

std::string ProfileText(const RunAnalysis& run, const ScreenOptions& options) {
  Document document;
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  for (const TraceAnalysis* trace : ranks) AddTrace(document, *trace, options);
  if (ranks.size() > 1 || !run.ranks.missing.empty()) AddCrossRank(document, run);
  std::string out = RenderText(std::move(document), options.style, kScriptLayout);
  if (ranks.empty()) out += "no worker's trace among the files\n";
  const Document others = OtherFiles(run);
  return others.blocks.empty() ? out : out + "\n" + RenderText(others, options.style);
}

}  // namespace tacho

#include "report/words/redact.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/device/profiler_overhead.h"
#include "base/sha256.h"
#include "base/words.h"

namespace tacho {
namespace {

bool IsWord(char c) {
  return IsDigit(c) || c == '_' || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'z');
}

// Whether the name is an operator's: "aten::mm", "vllm::all_reduce", "torch.ops._C::rms_norm.out".
// A single word is not accepted, because it may be private.
bool IsOperator(std::string_view name) {
  return name.size() <= 120 && name.find("::") != std::string_view::npos &&
         std::ranges::all_of(name, [](char c) { return IsWord(c) || c == ':' || c == '.'; });
}

bool IsRuntimeCall(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"cuda", "cu", "hip", "nccl", "rccl", "hsa", "ze"};
  return name.size() <= 80 && std::ranges::all_of(name, IsWord) &&
         std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
           return name.starts_with(prefix) && name.size() > prefix.size() &&
                  name[prefix.size()] >= 'A' && name[prefix.size()] <= 'Z';
         });
}

// The frame without its folder: "core.py(301): step" for "/home/alice/vllm/v1/core.py(301): step".
// "" if the name is not a Python frame's.
std::string_view FrameIn(std::string_view name) {
  const auto all = [](std::string_view text, std::string_view others) {
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
      return IsWord(c) || others.find(c) != std::string_view::npos;
    });
  };
  const size_t line = name.find(".py("), end = name.find("): ");
  if (line == std::string_view::npos || end == std::string_view::npos || end < line) return "";
  const size_t file = name.find_last_of("/\\", line) + 1;  // 0 without a folder
  const std::string_view number = name.substr(line + 4, end - line - 4);
  const bool is_frame = name.size() - file <= 160 && all(name.substr(file, line - file), ".-") &&
                        std::ranges::all_of(number, IsDigit) && all(name.substr(end + 3), ".<>");
  return is_frame ? name.substr(file) : "";
}

}  // namespace

std::string Redactor::Hash(std::string_view text) const {
  if (text.empty()) return "";
  const auto digest = Sha256(salt_ + std::string(text));
  return fmt::format("#{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3]);
}

std::string Redactor::Name(std::string_view name) const {
  if (name.empty() || IsOperator(name) || IsRuntimeCall(name)) return std::string(name);
  const std::string_view frame = FrameIn(name);
  if (!frame.empty()) return std::string(frame);
  return Hash(name);
}

std::string Redactor::KernelName(std::string_view name) const {
  return name.find_first_of("/\\") == std::string_view::npos ? std::string(name) : Hash(name);
}

std::string Redactor::Overhead(std::string_view name) const {
  const bool is_known = !KindOfOverhead(name).name.empty() && name.size() <= 40 &&
                        std::ranges::all_of(name, [](char c) { return IsWord(c) || c == ' '; });
  return is_known ? std::string(name) : Hash(name);
}

std::string Redactor::Id(std::string_view id) const {
  const bool stays = id.size() <= 40 && std::ranges::all_of(id, [](char c) {
                       return IsDigit(c) || (c >= 'A' && c <= 'Z') ||
                              std::string_view(" _.+-/[]").find(c) != std::string_view::npos;
                     });
  const bool is_worker =
      id.size() > 1 && id[0] == 'w' && std::ranges::all_of(id.substr(1), IsDigit);
  return stays || is_worker || id == "cpu" ? std::string(id) : Hash(id);
}

void Redactor::Redact(std::vector<OpRow>& ops) const {
  for (OpRow& row : ops) {
    row.name = row.annotation ? Hash(row.name) : Name(row.name);
    const bool numbers =
        row.shapes.find_first_not_of("0123456789[], \"\n\r\t-") == std::string::npos;
    if (!numbers) row.shapes = Hash(row.shapes);
  }
}

void Redactor::Redact(IdleTable& idle, bool on_host) const {
  for (IdleCauseRow& row : idle.causes)
    row.call = row.cause == IdleCause::kProfiler ? Overhead(row.call) : Name(row.call);
  for (IdleGap& gap : idle.gaps) {
    gap.device = Id(gap.device);
    gap.before = on_host ? Name(gap.before) : KernelName(gap.before);
    gap.after = on_host ? Name(gap.after) : KernelName(gap.after);
    gap.host = gap.host_is_annotation ? Hash(gap.host) : Name(gap.host);
    gap.host_track = Hash(gap.host_track);
  }
}

void Redactor::Redact(std::vector<DeviceTime>& devices) const {
  for (DeviceTime& device : devices) {
    device.device = Id(device.device);
    for (StreamTime& stream : device.streams) stream.stream = Id(stream.stream);
  }
}

void Redactor::Redact(MemoryTable& memory) const {
  for (DeviceMemory& device : memory.devices) {
    if (!device.peak || !device.peak->parts) continue;
    for (OperatorBlocks& of : device.peak->parts->operators) {
      for (std::string* const name : {&of.op, &of.inside})
        if (!name->empty()) *name = Name(*name);
    }
  }
}

void Redactor::Redact(TraceAnalysis& trace) const {
  const bool on_host = !trace.devices.empty() && trace.devices[0].on_host;
  trace.path = Hash(trace.path);
  if (!trace.results.empty()) trace.results = Hash(trace.results);
  TraceHeader& header = trace.header;
  header.producer_log.clear();
  header.trace_id.clear();
  for (DeviceProperties& device : header.devices) device.id = Id(device.id);
  for (std::string* const text :
       {&header.backend, &header.nccl_version, &header.cuda_runtime_version,
        &header.cuda_driver_version, &trace.scope.device})
    *text = Id(*text);
  trace.roofline.format_kernel = KernelName(trace.roofline.format_kernel);
  TraceFacts& facts = trace.facts;
  facts.engine_version = Id(facts.engine_version);
  facts.identity.worker = Id(facts.identity.worker);
  for (std::string& name : facts.process_names) name = Hash(name);
  for (auto& [category, count] : facts.by_category)
    if (!std::ranges::all_of(category, IsWord)) category = Hash(category);
  Notes notes;
  for (const Note& note : trace.notes.list())
    notes.Add(note.id, note.where.starts_with("byte ") ? note.where : Hash(note.where), note.count);
  trace.notes = std::move(notes);
  Redact(trace.devices);
  Redact(trace.idle, on_host);
  for (KernelRow& row : trace.kernels.rows) {
    row.name = on_host ? Name(row.name) : KernelName(row.name);
    row.device = Id(row.device);
  }
  for (CopyRow& row : trace.copies.copies) row.kind = KernelName(row.kind);
  for (LaunchTable::QueueDepth& queue : trace.launches.queues) {
    queue.device = Id(queue.device);
    queue.stream = Id(queue.stream);
  }
  for (std::vector<ApiRow>* const apis : {&trace.launches.apis, &trace.launches.other_apis})
    for (ApiRow& row : *apis) row.name = Name(row.name);
  if (trace.launches.overhead) {
    for (OverheadInCalls::Row& row : trace.launches.overhead->rows) row.name = Overhead(row.name);
  }
  for (std::vector<OpRow>* const ops :
       {&trace.ops.rows, &trace.ops.by_shape, &trace.ops.key_averages.rows,
        &trace.ops.key_averages.by_shape})
    Redact(*ops);
  Redact(trace.memory);
}

RunAnalysis Redactor::Redacted(RunAnalysis run) const {
  for (TraceAnalysis& trace : run.traces) Redact(trace);
  for (SlicesTogether& slices : run.together) {
    for (std::string& path : slices.paths) path = Hash(path);
    Redact(slices.devices);
    Redact(slices.idle, false);
  }
  for (RankRow& row : run.ranks.rows) {
    row.path = Hash(row.path);
    row.identity.worker = Id(row.identity.worker);
  }
  for (RequestRow& row : run.requests.rows) {
    row.id = Hash(row.id);
    row.worker = Id(row.worker);
    row.scenario = Hash(row.scenario);
  }
  for (RequestGroup& group : run.requests.scenarios) group.scenario = Hash(group.scenario);
  run.joined.reset();
  for (MissingRanks& missing : run.ranks.missing) missing.worker = Id(missing.worker);
  for (RankBlame::Group& group : run.ranks.blame.groups) group.name = Id(group.name);
  for (std::vector<std::string>* const files : {&run.skipped, &run.failed})
    for (std::string& file : *files) file = Hash(file) + ": not read, or left out";
  for (std::string& file : run.captures) file = Hash(file);
  for (std::string& sentence : run.unproven) sentence = Hash(sentence) + ": a rank is not proven";
  return run;
}

Drawings Redactor::Redacted(Drawings drawings) const {
  for (MiniTimeline& timeline : drawings.timelines) {
    for (DrawnRow& row : timeline.rows) {
      if (row.of == DrawnRow::Of::kStream) row.label = "stream " + Id(row.name);
      if (row.of == DrawnRow::Of::kThread) row.label = "thread " + Hash(row.name);
      row.name.clear();
      for (DrawnSpan& span : row.spans) {
        if (span.name_is == DrawnSpan::Name::kKernel) span.name = KernelName(span.name);
        if (span.name_is == DrawnSpan::Name::kCode) span.name = Name(span.name);
        if (span.name_is == DrawnSpan::Name::kAnnotation) span.name = Hash(span.name);
      }
    }
  }
  return drawings;
}

}  // namespace tacho

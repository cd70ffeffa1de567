#include "view/rank_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/gpu_scope.h"

namespace tacho {
namespace {

std::vector<Lane> StackTrack(const LaneRows& table, size_t track, DrawnFrom from,
                             std::span<const DrawnTable> tables) {
  Stack stack;
  const RowList rows = table.Of(track);
  for (size_t i = 0; i < rows.size(); ++i) {
    stack.Place({static_cast<uint32_t>(from), rows[i]}, table.table().When(rows[i]));
  }
  return stack.Take(tables);
}

// "1234 VLLM::Worker_TP0", or the id alone.
std::string WithName(const Trace& trace, StringId id, StringId name) {
  std::string text(trace.Text(id));
  if (name != StringId::kEmpty) text += " " + std::string(trace.Text(name));
  return text;
}

}  // namespace

RankRows::RankRows(const Trace& trace, const Classifier& classifier, const InFlight* in_flight,
                   size_t threads)
    : index_(trace, threads) {
  const LaunchLinks links = LinkLaunches(trace);
  const DeviceWork work = CollectDeviceWork(index_, classifier);
  std::vector<IdleStretch> stretches;
  AttributeIdle(index_, work, links, {}, in_flight, 0, &stretches);
  MakeTables(classifier);
  AddComputed(FindSteps(index_, links), work, stretches);
  AddStreams();
  AddThreads(links);
}

void RankRows::MakeTables(const Classifier& classifier) {
  const Trace& trace = index_.trace();
  const auto one_color = [&](HostColor color) {
    return std::vector<uint8_t>(trace.words.strings.size(), static_cast<uint8_t>(color));
  };
  const auto add = [&](const SliceTable& slices, std::vector<uint8_t> colors) {
    tables_.push_back({&slices, &trace.words.strings, std::move(colors)});
  };
  // In the order of DrawnFrom.
  add(trace.gpu, ColorsOfGpuWork(trace, classifier));
  add(trace.gpu_annotations, one_color(HostColor::kAnnotation));
  add(trace.python_frames, one_color(HostColor::kPython));
  add(trace.annotations, one_color(HostColor::kAnnotation));
  add(trace.host_ops, one_color(HostColor::kOperator));
  add(trace.host_calls, ColorsOfHostCalls(trace));
  add(trace.others, one_color(HostColor::kOther));
  tables_.push_back({&computed_.table, &computed_.names, {}});
}

std::vector<Lane> RankRows::LanesOf(const ComputedRow& row) const {
  Stack stack;
  for (const uint32_t slice : row) {
    stack.Place({static_cast<uint32_t>(DrawnFrom::kComputed), slice}, computed_.table.When(slice));
  }
  return stack.Take(tables_);
}

void RankRows::AddComputed(const StepTable& steps, const DeviceWork& work,
                           const std::vector<IdleStretch>& stretches) {
  // All slices first: lanes add up their times by colour, and colours grow with the names.
  const ComputedRow of_steps = AddSteps(steps, computed_);
  struct OfDevice {
    ComputedRow busy, idle, communication;
  };
  std::vector<OfDevice> of_devices;
  for (uint32_t i = 0; i < work.devices.size(); ++i) {
    of_devices.push_back({AddBusy(work.devices[i], computed_), AddIdle(stretches, i, computed_),
                          AddCommunication(work.devices[i], computed_)});
  }
  tables_[static_cast<size_t>(DrawnFrom::kComputed)].color_of_name = computed_.color_of_name;

  rows_.push_back({RowKind::kSteps, Palette::kPhases, "", "steps",
                   of_steps.empty() ? "the trace names no step of the engine" : "",
                   LanesOf(of_steps)});
  for (size_t i = 0; i < work.devices.size(); ++i) {
    const std::string& device = work.devices[i].device;
    const OfDevice& of_device = of_devices[i];
    rows_.push_back({RowKind::kBusy, Palette::kExposure, device, "busy",
                     of_device.busy.empty() ? "no work was recorded" : "",
                     LanesOf(of_device.busy)});
    rows_.push_back({RowKind::kIdle, Palette::kIdle, device, "idle by cause",
                     of_device.idle.empty() ? "no idle time between its first and last work" : "",
                     LanesOf(of_device.idle)});
    rows_.push_back({RowKind::kCommunication, Palette::kExposure, device, "communication",
                     of_device.communication.empty() ? "no communication was recorded" : "",
                     LanesOf(of_device.communication)});
  }
  if (work.devices.empty()) {
    rows_.push_back(
        {RowKind::kBusy, Palette::kExposure, "", "device", "no work of a device was recorded", {}});
  }
}

void RankRows::AddStreams() {
  const Trace& trace = index_.trace();
  std::vector<std::pair<uint64_t, TimelineRow>> streams;
  for (size_t i = 0; i < trace.words.streams().size(); ++i) {
    if (index_.gpu().Of(i).empty()) continue;
    const Stream& stream = trace.words.streams()[i];
    TimelineRow row{RowKind::kStream,
                    Palette::kWork,
                    std::string(trace.Text(stream.device)),
                    "stream " + std::string(trace.Text(stream.stream)),
                    "",
                    StackStream(index_, static_cast<StreamId>(i), tables_)};
    uint64_t busy = 0;
    for (const Lane& lane : row.lanes) busy += lane.BusyNs();
    streams.emplace_back(busy, std::move(row));
  }
  std::ranges::stable_sort(streams, [](const auto& a, const auto& b) {
    if (a.second.owner != b.second.owner) return IdLess(a.second.owner, b.second.owner);
    return a.first > b.first;
  });
  for (auto& [time, row] : streams) rows_.push_back(std::move(row));
  for (size_t track = 0; track < index_.gpu_annotations().lanes(); ++track) {
    if (index_.gpu_annotations().Of(track).empty()) continue;
    const Track& of = trace.words.tracks()[track];
    rows_.push_back(
        {RowKind::kMarks, Palette::kHost, std::string(trace.Text(trace.words[of.process].id)),
         "annotations " + std::string(trace.Text(of.tid)), "",
         StackTrack(index_.gpu_annotations(), track, DrawnFrom::kGpuAnnotations, tables_)});
  }
}

void RankRows::AddThreads(const LaunchLinks& links) {
  const Trace& trace = index_.trace();
  std::vector<std::vector<Lane>> lanes = StackHostTracks(index_, tables_);
  struct Thread {
    size_t track, launches = 0, slices = 0;
  };
  std::vector<Thread> threads;
  for (size_t track = 0; track < lanes.size(); ++track) {
    if (!lanes[track].empty()) threads.push_back({track});
  }
  for (Thread& thread : threads) {
    const RowList calls = index_.host_calls().Of(thread.track);
    for (size_t i = 0; i < calls.size(); ++i) {
      thread.launches += links.first.LaunchedWork(calls[i]) ? 1 : 0;
    }
    for (const Lane& lane : lanes[thread.track]) thread.slices += lane.size();
  }
  std::ranges::stable_sort(threads, [](const Thread& a, const Thread& b) {
    return std::tie(a.launches, a.slices) > std::tie(b.launches, b.slices);
  });
  const auto add = [&](size_t track, std::string_view suffix, std::vector<Lane> of_track) {
    const Track& of = trace.words.tracks()[track];
    const Process& process = trace.words[of.process];
    rows_.push_back({RowKind::kThread, Palette::kHost, WithName(trace, process.id, process.name),
                     WithName(trace, of.tid, of.name) + std::string(suffix), "",
                     std::move(of_track)});
  };
  for (const Thread& thread : threads) add(thread.track, "", std::move(lanes[thread.track]));
  for (size_t track = 0; track < index_.others().lanes(); ++track) {
    if (index_.others().Of(track).empty()) continue;
    add(track, " (others)", StackTrack(index_.others(), track, DrawnFrom::kOthers, tables_));
  }
}

size_t RankRows::MemoryBytes() const {
  size_t bytes = index_.MemoryBytes() + computed_.table.MemoryBytes();
  for (const DrawnTable& table : tables_) bytes += table.color_of_name.size();
  for (const TimelineRow& row : rows_) {
    for (const Lane& lane : row.lanes) bytes += lane.MemoryBytes();
  }
  return bytes;
}

}  // namespace tacho

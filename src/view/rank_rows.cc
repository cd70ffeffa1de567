#include "view/rank_rows.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "analysis/device/graph_capture.h"
#include "analysis/device/missing_work.h"
#include "analysis/evidence/recorded_part.h"
#include "analysis/index/gpu_scope.h"
#include "base/parallel.h"

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

// An id and its name, "1234 VLLM::Worker_TP0", or the id alone if it has no name.
std::string WithName(const Trace& trace, StringId id, StringId name) {
  std::string text(trace.Text(id));
  if (name != StringId::kEmpty) text += " " + std::string(trace.Text(name));
  return text;
}

// For each stream, the names of the tracks on which the file draws the stream's work, if they are
// not the stream's own name: torch 2.15 may draw work on tracks named by annotations. At most
// kMostLanes for each stream.
std::vector<std::vector<std::string_view>> LaneNames(const Trace& trace) {
  constexpr size_t kMostLanes = 4;
  std::vector<std::vector<TrackId>> lanes(trace.words.streams().size());
  for (size_t row = 0; row < trace.gpu.size(); ++row) {
    auto& of_stream = lanes[Index(trace.gpu.stream[row])];
    const TrackId track = trace.gpu.track[row];
    if (std::ranges::find(of_stream, track) == of_stream.end() && of_stream.size() < kMostLanes) {
      of_stream.push_back(track);
    }
  }
  std::vector<std::vector<std::string_view>> names(lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) {
    for (const TrackId lane : lanes[i]) {
      const Track& track = trace.words[lane];
      const std::string_view name = trace.Text(track.name);
      // Kineto's own name for a stream's track is "stream 7 ".
      if (track.tid == trace.words.streams()[i].stream || name.empty() ||
          name.starts_with(kStreamWord)) {
        continue;
      }
      names[i].push_back(name);
    }
  }
  return names;
}

// The label of a stream: "stream 25", or with the names of its tracks "stream 25 (tp)".
std::string StreamLabel(std::string_view stream, const std::vector<std::string_view>& lanes) {
  std::string label = std::string(kStreamWord) + std::string(stream);
  for (size_t i = 0; i < lanes.size(); ++i) {
    label += (i == 0 ? " (" : ", ") + std::string(lanes[i]);
  }
  return lanes.empty() ? label : label + ")";
}

// Why a trace shows no device.
std::string WhyNoDevice(const Trace& trace, bool on_host) {
  Notes notes;
  notes.Add(NoteId::kDeviceRowsNotRead, "", trace.notes.CountOf(NoteId::kDeviceRowsNotRead));
  RecordedWork work = WorkOf(trace);
  work.no_rank = RecordsCapture(trace, {});
  NoteMissingWork(work, trace, on_host, notes);
  std::string why(trace.counts.total == 0 ? KindOf(NoteId::kNoEvents).text
                                          : "no GPU work in this trace");
  for (const Note& note : notes.list()) why += "; " + std::string(KindOf(note.id).remedy);
  return why;
}

void CheckSize(const SliceTable& slices) {
  if (slices.size() > SliceRef::kMostRows)
    throw std::length_error("more slices of one kind than a view can show");
}

}  // namespace

std::string_view RowKindName(RowKind kind) {
  static constexpr std::string_view kNames[] = {
      "steps", "busy", "idle", "communication", "layer", "block", "stream", "marks", "thread"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view RowGroupName(RowGroup group) {
  static constexpr std::string_view kNames[] = {"computed", "streams", "launching", "other"};
  return kNames[static_cast<size_t>(group)];
}

size_t TimelineRow::slices() const {
  size_t slices = 0;
  for (const Lane& lane : lanes) slices += lane.size();
  return slices;
}

RankRows::RankRows(const PreparedTrace& prepared, const Classifier& classifier,
                   const InFlight* in_flight, size_t threads, bool mixed_ranks)
    : trace_(&prepared.index.trace()),
      untold_(UntoldOf(prepared, mixed_ranks)),
      common_clock_(prepared.integrity.common_clock() && !mixed_ranks),
      links_(prepared.links),
      steps_(prepared.steps),
      marks_(MarksOf(*trace_)) {
  const TrackIndex& index = prepared.index;
  MakeTables(classifier);
  std::vector<std::vector<Lane>> of_tracks, of_streams(index.gpu().lanes());
  RunAll({[&] { AddComputed(prepared, in_flight); },  // only this task writes computed_ and rows_
          [&] { of_tracks = StackHostTracks(index, tables_); },
          [&] {
            for (size_t i = 0; i < of_streams.size(); ++i) {
              of_streams[i] = StackStream(index, static_cast<StreamId>(i), tables_);
            }
          }},
         threads);
  AddStreams(index, std::move(of_streams));
  AddThreads(index, std::move(of_tracks));
  AddMarks();
  NameTables();
}

// Fills tables_, except for the ids of names.
void RankRows::MakeTables(const Classifier& classifier) {
  const Trace& trace = *trace_;
  const auto one_color = [&](HostColor color) {
    return std::vector<uint8_t>(trace.words.strings.size(), static_cast<uint8_t>(color));
  };
  const auto add = [&](const SliceTable& slices, std::vector<uint8_t> colors) {
    CheckSize(slices);
    tables_.push_back({&slices, &trace.words.strings, std::move(colors)});
  };
  // The order must be that of DrawnFrom.
  add(trace.gpu, ColorsOfGpuWork(trace, classifier));
  add(trace.gpu_annotations, one_color(HostColor::kAnnotation));
  add(trace.python_frames, one_color(HostColor::kPython));
  add(trace.annotations, one_color(HostColor::kAnnotation));
  add(trace.host_ops, one_color(HostColor::kOperator));
  add(trace.host_calls, ColorsOfHostCalls(trace));
  add(trace.others, one_color(HostColor::kOther));
  tables_.push_back({&computed_.table, &computed_.names, {}});  // AddComputed sets its colours
  add(marks_, one_color(HostColor::kAnnotation));
}

void RankRows::NameTables() {
  names_ = std::make_unique<RankNames>(*trace_, computed_.names);
  for (DrawnTable& table : tables_) {
    table.id_of_name = names_->of_others();
    table.color_of_name = {};  // the lanes have the colours now
  }
  DrawnTable& gpu = tables_[static_cast<size_t>(DrawnFrom::kGpu)];
  gpu.id_of_name = names_->of_gpu_work();
  gpu.kind_of_slice = trace_->gpu.kind.span();
  tables_[static_cast<size_t>(DrawnFrom::kComputed)].id_of_name = names_->of_computed();
}

std::vector<Lane> RankRows::LanesOf(const ComputedRow& row) const {
  Stack stack;
  for (size_t i = 0; i < row.size(); ++i) {
    stack.Place({static_cast<uint32_t>(DrawnFrom::kComputed), row[i]},
                computed_.table.When(row[i]));
  }
  return stack.Take(tables_);
}

std::vector<Lane> RankRows::LanesOfLayers(const ComputedRow& row) const {
  std::vector<uint32_t> rows;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!computed_.table.When(row[i]).empty()) rows.push_back(row[i]);
  }
  const auto start = [&](uint32_t of) { return computed_.table.start[of]; };
  if (!std::ranges::is_sorted(rows, {}, start)) std::ranges::stable_sort(rows, {}, start);
  return LanesOf(ComputedRow(rows));
}

void RankRows::AddComputed(const PreparedTrace& prepared, const InFlight* in_flight) {
  const DeviceWork& work = prepared.work;
  // Adds all computed slices before any lane is built, because lanes read the colours. The steps
  // must be the first slices: a step's number is its row in the table.
  const ComputedRow steps = AddSteps(steps_, computed_);
  IdleRows idle{{}, std::vector<ComputedRow>(work.devices.size())};
  std::vector<ComputedRow> busy(work.devices.size()), communication = busy;
  if (untold_.device_time.empty()) {
    idle = AddIdle(prepared, in_flight, kMostGaps, computed_);
    gaps_ = std::move(idle.table.gaps);
    Interval all;
    for (size_t i = 0; i < work.devices.size(); ++i) {
      const DeviceItems& device = work.devices[i];
      busy[i] = AddBusy(device, computed_);
      communication[i] = AddCommunication(device, computed_);
      all = all.empty() ? device.extent
                        : Interval{std::min(all.start, device.extent.start),
                                   std::max(all.end, device.extent.end)};
    }
    recorded_ = RecordedPart(prepared.integrity, trace_->span, all);
    layers_.Add(prepared, computed_);
  }
  CheckSize(computed_.table);
  tables_[static_cast<size_t>(DrawnFrom::kComputed)].color_of_name = computed_.color_of_name;
  const auto add = [&](RowKind kind, Palette palette, const std::string& owner,
                       std::string_view label, std::string_view lacks, const ComputedRow& row) {
    rows_.push_back({kind, RowGroup::kComputed, palette, owner, std::string(label),
                     row.empty() ? std::string(lacks) : "", LanesOf(row)});
  };
  add(RowKind::kSteps, Palette::kPhases, "", "steps", "the trace names no step of the engine",
      steps);
  for (size_t i = 0; i < work.devices.size(); ++i) {
    const std::string& device = work.devices[i].device;
    add(RowKind::kBusy, Palette::kExposure, device, "busy",
        WhyNoBusyTime(untold_, "no work was recorded"), busy[i]);
    add(RowKind::kIdle, Palette::kIdle, device, "idle by cause", WhyNoIdleTime(untold_),
        idle.of_device[i]);
    add(RowKind::kCommunication, Palette::kExposure, device, "communication",
        WhyNoBusyTime(untold_, "no communication was recorded"), communication[i]);
    if (layers_.of_device().empty()) continue;
    const auto& [layers, blocks] = layers_.of_device()[i];
    if (blocks.empty()) continue;
    const auto add_layers = [&](RowKind kind, std::string_view label, const ComputedRow& row) {
      rows_.push_back({kind, RowGroup::kComputed, Palette::kBlocks, device, std::string(label), "",
                       LanesOfLayers(row)});
    };
    add_layers(RowKind::kLayer, "layer", layers);
    add_layers(RowKind::kBlock, "block", blocks);
  }
  if (work.devices.empty()) {
    add(RowKind::kBusy, Palette::kExposure, "", "device", WhyNoDevice(*trace_, work.on_host), {});
  }
}

void RankRows::AddStreams(const TrackIndex& index, std::vector<std::vector<Lane>> lanes) {
  const Trace& trace = *trace_;
  struct OfStream {
    size_t stream;
    uint64_t busy;
    TimelineRow row;
  };
  const auto lane_names = LaneNames(trace);
  std::vector<OfStream> streams;
  for (size_t i = 0; i < trace.words.streams().size(); ++i) {
    if (index.gpu().Of(i).empty()) continue;
    const Stream& stream = trace.words.streams()[i];
    TimelineRow row{RowKind::kStream,
                    RowGroup::kStreams,
                    Palette::kWork,
                    std::string(trace.Text(stream.device)),
                    StreamLabel(trace.Text(stream.stream), lane_names[i]),
                    "",
                    std::move(lanes[i])};
    uint64_t busy = 0;
    for (const Lane& lane : row.lanes) busy += lane.BusyNs();
    streams.push_back({i, busy, std::move(row)});
  }
  std::ranges::stable_sort(streams, [](const OfStream& a, const OfStream& b) {
    if (a.row.owner != b.row.owner) return IdLess(a.row.owner, b.row.owner);
    return a.busy > b.busy;
  });
  row_of_stream_.assign(trace.words.streams().size(), kNoRow);
  for (OfStream& of : streams) {
    row_of_stream_[of.stream] = static_cast<uint32_t>(rows_.size());
    rows_.push_back(std::move(of.row));
  }
  row_of_gpu_annotations_.assign(trace.words.tracks().size(), kNoRow);
  for (size_t track = 0; track < index.gpu_annotations().lanes(); ++track) {
    if (index.gpu_annotations().Of(track).empty()) continue;
    const Track& of = trace.words.tracks()[track];
    row_of_gpu_annotations_[track] = static_cast<uint32_t>(rows_.size());
    rows_.push_back(
        {RowKind::kMarks, RowGroup::kStreams, Palette::kHost,
         std::string(trace.Text(trace.words[of.process].id)),
         "annotations " + std::string(trace.Text(of.tid)), "",
         StackTrack(index.gpu_annotations(), track, DrawnFrom::kGpuAnnotations, tables_)});
  }
}

void RankRows::AddThreads(const TrackIndex& index, std::vector<std::vector<Lane>> lanes) {
  const Trace& trace = *trace_;
  struct Thread {
    size_t track, launches = 0, slices = 0;
  };
  std::vector<Thread> threads;
  for (size_t track = 0; track < lanes.size(); ++track) {
    if (!lanes[track].empty()) threads.push_back({track});
  }
  for (Thread& thread : threads) {
    const RowList calls = index.host_calls().Of(thread.track);
    for (size_t i = 0; i < calls.size(); ++i) {
      thread.launches += links_.first.LaunchedWork(calls[i]) ? 1 : 0;
    }
    for (const Lane& lane : lanes[thread.track]) thread.slices += lane.size();
  }
  std::ranges::stable_sort(threads, [](const Thread& a, const Thread& b) {
    return std::tie(a.launches, a.slices) > std::tie(b.launches, b.slices);
  });
  const auto add = [&](size_t track, RowGroup group, std::string_view suffix,
                       std::vector<Lane> of_track) {
    const Track& of = trace.words.tracks()[track];
    const Process& process = trace.words[of.process];
    rows_.push_back(
        {RowKind::kThread, group, Palette::kHost, WithName(trace, process.id, process.name),
         WithName(trace, of.tid, of.name) + std::string(suffix), "", std::move(of_track)});
  };
  row_of_thread_.assign(trace.words.tracks().size(), kNoRow);
  row_of_others_ = row_of_thread_;
  for (const Thread& thread : threads) {
    row_of_thread_[thread.track] = static_cast<uint32_t>(rows_.size());
    add(thread.track, thread.launches > 0 ? RowGroup::kLaunching : RowGroup::kOther, "",
        std::move(lanes[thread.track]));
  }
  for (size_t track = 0; track < index.others().lanes(); ++track) {
    if (index.others().Of(track).empty()) continue;
    row_of_others_[track] = static_cast<uint32_t>(rows_.size());
    add(track, RowGroup::kOther, " (others)",
        StackTrack(index.others(), track, DrawnFrom::kOthers, tables_));
  }
}

void RankRows::AddMarks() {
  const Trace& trace = *trace_;
  const LaneRows marks(marks_, marks_.track, trace.words.tracks().size(),
                       LaneRows::Order::kOuterFirst);
  for (size_t track = 0; track < marks.lanes(); ++track) {
    if (marks.Of(track).empty()) continue;
    const Track& of = trace.words.tracks()[track];
    const Process& process = trace.words[of.process];
    rows_.push_back({RowKind::kMarks, RowGroup::kOther, Palette::kHost,
                     WithName(trace, process.id, process.name),
                     WithName(trace, of.tid, of.name) + " (ranges, instants)", "",
                     StackTrack(marks, track, DrawnFrom::kMarks, tables_)});
  }
}

uint32_t RankRows::RowOf(SliceRef slice) const {
  const auto of_track = [&](const std::vector<uint32_t>& rows, const SliceTable& table) {
    return rows[Index(table.track[slice.row()])];
  };
  switch (const auto from = static_cast<DrawnFrom>(slice.table())) {
    case DrawnFrom::kGpu:
      return row_of_stream_[Index(trace().gpu.stream[slice.row()])];
    case DrawnFrom::kGpuAnnotations:
      return of_track(row_of_gpu_annotations_, trace().gpu_annotations);
    case DrawnFrom::kOthers:
      return of_track(row_of_others_, trace().others);
    case DrawnFrom::kMarks:
      return kNoRow;
    case DrawnFrom::kComputed:
      return slice.row() < steps().size() ? 0 : kNoRow;
    default:
      return of_track(row_of_thread_, *tables_[static_cast<size_t>(from)].slices);
  }
}

uint32_t RankRows::RowOf(RowKind kind, std::string_view device) const {
  for (uint32_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].kind == kind && rows_[i].owner == device) return i;
  }
  return kNoRow;
}

size_t RankRows::MemoryBytes() const {
  size_t bytes = computed_.table.MemoryBytes() + layers_.MemoryBytes() + marks_.MemoryBytes() +
                 names_->MemoryBytes() + links_.call_of_gpu.size() * sizeof(uint32_t) +
                 trace().host_calls.size() * sizeof(uint32_t);
  for (const TimelineRow& row : rows_) {
    for (const Lane& lane : row.lanes) bytes += lane.MemoryBytes();
  }
  return bytes;
}

}  // namespace tacho

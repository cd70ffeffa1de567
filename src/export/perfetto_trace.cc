#include "export/perfetto_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "export/export_window.h"
#include "export/nested_row.h"
#include "export/perfetto_packets.h"
#include "view/slice_detail.h"

namespace tacho {
namespace {

constexpr std::string_view kOwnCategory = "tacho";

// Converts the times of a rank to those of the file.
class FileClock {
 public:
  explicit FileClock(std::span<const ExportedRank> ranks) {
    const ViewedRank& first = *ranks.front().rank;
    const int64_t base = first.trace().header.base_time_ns;
    is_unix_ = base >= 0;
    if (is_unix_) {
      origin_ = DurationNs{AddSaturated(base, -first.offset().ns)};
      return;
    }
    TimeNs earliest{0};
    for (const ExportedRank& exported : ranks) earliest = std::min(earliest, First(exported));
    origin_ = DurationNs{-earliest.ns};
  }

  [[nodiscard]] bool is_unix() const { return is_unix_; }
  [[nodiscard]] int64_t At(const ViewedRank& rank, TimeNs t) const {
    return std::max<int64_t>(0, AddSaturated(rank.ToRun(t).ns, origin_.ns));
  }

 private:
  // The earliest time, on the run's clock, in what is exported of a rank.
  static TimeNs First(const ExportedRank& exported) {
    const ViewedRank& rank = *exported.rank;
    const Interval window = exported.window;
    const PartCut cut(exported);
    TimeNs first{0};
    for (const TimelineRow& row : rank.rows()) {
      for (const Lane& lane : row.lanes) {
        const Lane::Places places = lane.In(window);
        if (places.first == places.last) continue;
        const Interval when = cut.Of(lane[places.first], lane.When(places.first));
        first = std::min(first, rank.ToRun(when.start));
      }
    }
    const CounterTable& counters = rank.trace().counters;
    for (const TimeNs at : counters.at) {
      if (window.contains(at)) first = std::min(first, rank.ToRun(at));
    }
    return first;
  }

  bool is_unix_ = false;
  DurationNs origin_;
};

// For each call: which pieces of GPU work it launched, as rows of Trace::gpu.
class PiecesOfCalls {
 public:
  PiecesOfCalls(const Trace& trace, const LaunchLinks& links)
      : begin_(trace.host_calls.size() + 1), pieces_() {
    for (const uint32_t call : links.call_of_gpu) {
      if (call != LaunchLinks::kNone) ++begin_[call + 1];
    }
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    pieces_.resize(begin_.back());
    std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (uint32_t row = 0; row < links.call_of_gpu.size(); ++row) {
      const uint32_t call = links.call_of_gpu[row];
      if (call != LaunchLinks::kNone) pieces_[next[call]++] = row;
    }
  }
  [[nodiscard]] std::span<const uint32_t> Of(uint32_t call) const {
    return std::span(pieces_).subspan(begin_[call], begin_[call + 1] - begin_[call]);
  }

 private:
  std::vector<uint32_t> begin_, pieces_;  // begin_: by call, with one more entry at the end
};

// "GPU 0" for a number. Other ids of devices, such as "cpu", stay as they are.
std::string DeviceText(const std::string& id) {
  const bool is_number = !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
  return (is_number ? "GPU " : "") + id;
}

// Writes one rank.
class RankTracks {
 public:
  RankTracks(const ExportedRank& exported, const FileClock& clock, uint64_t& last_uuid, Pieces& out)
      : rank_(*exported.rank),
        trace_(rank_.trace()),
        window_(exported.window),
        cut_(exported),
        clock_(clock),
        last_uuid_(last_uuid),
        flows_(uint64_t{exported.number + 1} << 40),
        pieces_(trace_, rank_.view().links()),
        packets_(exported.number + 1, trace_, out),
        root_(NewTrack(0, exported.label, exported.number)) {}

  void Write() {
    for (const TimelineRow& row : rank_.rows()) {
      if (packets_.can_write()) WriteRow(row);
    }
    WriteCounters();
  }

 private:
  uint64_t NewTrack(uint64_t parent, std::string_view name, uint64_t order, uint64_t key = 0,
                    bool is_counter = false) {
    packets_.Track({++last_uuid_, parent, name, order, key, is_counter});
    return last_uuid_;
  }
  // The track below which all rows of one owner stand.
  uint64_t Group(const std::string& name) {
    const auto [group, is_new] = groups_.try_emplace(name, 0);
    if (is_new) group->second = NewTrack(root_, name, groups_.size());
    return group->second;
  }

  void WriteRow(const TimelineRow& row) {
    const bool own = row.group == RowGroup::kComputed;
    const std::string owner =
        own || row.group == RowGroup::kStreams ? DeviceText(row.owner) : row.owner;
    const std::string name = own && !owner.empty() ? owner + " " + row.label : row.label;
    ++order_;
    std::vector<uint64_t> tracks;  // indexed by number in NestedTracks
    const auto track = [&](size_t number) {
      while (tracks.size() <= number)
        tracks.push_back(NewTrack(Group(own ? "tacho" : owner), name, order_, order_));
      return tracks[number];
    };
    NestedTracks nested(
        [&](size_t number, const RowSlice& slice) {
          WriteBegin(track(number), row.lanes[slice.lane], slice);
        },
        [&](size_t number, const RowSlice& slice) {
          ProtoWriter event = EventOf(perfetto::kEnd, track(number));
          packets_.Event(clock_.At(rank_, slice.when.end), event);
        });
    ForEachSliceOf(row, window_, [&](RowSlice slice) {
      if (!packets_.can_write()) return;
      const SliceRef ref = row.lanes[slice.lane][slice.place];
      slice.when = cut_.Of(ref, slice.when);
      if (IsOfAnEarlierExport(ref)) return;
      if (!IsInstant(ref)) return nested.Add(slice);
      nested.Close(0, slice.when.start);
      WriteInstant(track(0), row.lanes[slice.lane], slice);
    });
    nested.CloseAll();
  }

  [[nodiscard]] bool IsInstant(SliceRef slice) const {
    return static_cast<DrawnFrom>(slice.table()) == DrawnFrom::kMarks &&
           slice.row() >= trace_.ranges.size();
  }
  [[nodiscard]] bool IsOfAnEarlierExport(SliceRef slice) const {
    return static_cast<DrawnFrom>(slice.table()) == DrawnFrom::kOthers &&
           CategoryInFile(rank_, slice) == kOwnCategory;
  }

  static ProtoWriter EventOf(perfetto::EventKind kind, uint64_t track) {
    ProtoWriter event;
    event.Number(perfetto::kType, kind);
    event.Number(perfetto::kTrackUuid, track);
    return event;
  }
  // Adds name, category and arguments of a slice to `event`.
  void AddTexts(const Lane& lane, size_t place, ProtoWriter& event) {
    const SliceRef ref = lane[place];
    const bool own = static_cast<DrawnFrom>(ref.table()) == DrawnFrom::kComputed;
    // Names of computed slices get numbers above those of the trace's strings.
    const uint64_t name =
        Index(lane.Name(place)) + (own ? uint64_t{trace_.words.strings.size()} : 0);
    event.Number(perfetto::kNameId, packets_.NameId(name, lane.NameText(place)));
    const std::string_view category = own ? kOwnCategory : CategoryInFile(rank_, ref);
    if (!category.empty()) event.Number(perfetto::kCategories, packets_.CategoryId(category));
    if (!own) packets_.AddArguments(ArgumentsOfSlice(rank_, ref), event);
  }

  void WriteBegin(uint64_t track, const Lane& lane, const RowSlice& slice) {
    ProtoWriter event = EventOf(perfetto::kBegin, track);
    AddTexts(lane, slice.place, event);
    const SliceRef ref = lane[slice.place];
    const auto from = static_cast<DrawnFrom>(ref.table());
    if (from == DrawnFrom::kHostCalls) {
      for (const uint32_t piece : pieces_.Of(ref.row())) {
        if (TouchesWindow(trace_.gpu.When(piece), window_))
          event.Fixed64(perfetto::kFlows, flows_ + piece + 1);
      }
    } else if (from == DrawnFrom::kGpu) {
      const uint32_t call = rank_.view().links().call_of_gpu[ref.row()];
      if (call != LaunchLinks::kNone && TouchesWindow(trace_.host_calls.When(call), window_))
        event.Fixed64(perfetto::kEndingFlows, flows_ + ref.row() + 1);
    }
    packets_.Event(clock_.At(rank_, slice.when.start), event);
  }

  void WriteInstant(uint64_t track, const Lane& lane, const RowSlice& slice) {
    ProtoWriter event = EventOf(perfetto::kInstant, track);
    AddTexts(lane, slice.place, event);
    packets_.Event(clock_.At(rank_, slice.when.start), event);
  }

  void WriteCounters() {
    const CounterTable& table = trace_.counters;
    std::vector<uint64_t> tracks(trace_.words.metrics().size());  // 0: not described yet
    for (size_t i = 0; i < table.size() && packets_.can_write(); ++i) {
      if (!window_.contains(table.at[i])) continue;
      const auto* const decimal = std::get_if<double>(&table.value[i]);
      if (decimal != nullptr && !std::isfinite(*decimal)) continue;
      uint64_t& track = tracks[Index(table.metric[i])];
      if (track == 0) {
        const Metric& metric = trace_.words.metrics()[Index(table.metric[i])];
        const std::string name =
            fmt::format("{} {}", trace_.Text(metric.name), trace_.Text(metric.series));
        track = NewTrack(Group("counters"), name, ++order_, 0, true);
      }
      ProtoWriter event = EventOf(perfetto::kCount, track);
      if (decimal != nullptr)
        event.Double(perfetto::kCounterDouble, *decimal);
      else
        event.Signed(perfetto::kCounterValue, std::get<int64_t>(table.value[i]));
      packets_.Event(clock_.At(rank_, table.at[i]), event);
    }
  }

  const ViewedRank& rank_;
  const Trace& trace_;
  Interval window_;
  PartCut cut_;
  const FileClock& clock_;
  uint64_t& last_uuid_;
  uint64_t flows_;  // ids of flows are greater than this
  PiecesOfCalls pieces_;
  PerfettoPackets packets_;
  uint64_t root_;
  std::map<std::string, uint64_t> groups_;  // the group's track, by its name
  uint64_t order_ = 0;
};

ProtoWriter MarkPacket() {
  ProtoWriter descriptor, packet;
  descriptor.Number(perfetto::kUuid, 1);
  descriptor.Bytes(perfetto::kTrackName, kPerfettoMark);
  packet.Message(perfetto::kTrackDescriptor, descriptor);
  packet.Number(perfetto::kSequence, 0xffff);
  return packet;
}

// Tells Perfetto that times are Unix times, by giving two clocks the same time.
void SendClocks(int64_t at, Pieces& out) {
  constexpr uint64_t kRealtime = 1, kBoottime = 6;
  ProtoWriter snapshot, packet;
  for (const uint64_t clock : {kRealtime, kBoottime}) {
    ProtoWriter reading;
    reading.Number(1, clock);
    reading.Signed(2, at);
    snapshot.Message(1, reading);
  }
  packet.Signed(perfetto::kTimestamp, at);
  packet.Message(perfetto::kClockSnapshot, snapshot);
  packet.Number(perfetto::kSequence, 0xffff);
  SendPacket(packet, out);
}

}  // namespace

bool IsPerfettoExport(std::string_view start) {
  ProtoWriter file;
  file.Message(1, MarkPacket());
  return start.starts_with(file.bytes());
}

bool WritePerfetto(std::span<const ExportedRank> ranks, ByteSink& to) {
  Pieces out(to);
  const FileClock clock(ranks);
  SendPacket(MarkPacket(), out);
  const ViewedRank& first = *ranks.front().rank;
  if (clock.is_unix()) SendClocks(clock.At(first, first.trace().span.start), out);
  uint64_t last_uuid = 1;
  for (const ExportedRank& exported : ranks) RankTracks(exported, clock, last_uuid, out).Write();
  return out.Finish();
}

}  // namespace tacho

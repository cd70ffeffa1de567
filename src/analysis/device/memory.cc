#include "analysis/device/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/index/arg_reader.h"

namespace tacho {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 50;  // no device has a petabyte
constexpr int64_t kCpu = 0;

// c10::DeviceType.
constexpr const char* kDeviceTypes[] = {"cpu", "cuda", "mkldnn",     "opengl", "opencl", "ideep",
                                        "hip", "fpga", "maia",       "xla",    "vulkan", "metal",
                                        "xpu", "mps",  "meta",       "hpu",    "ve",     "lazy",
                                        "ipu", "mtia", "privateuse1"};

struct Device {
  int64_t type = kCpu, number = -1;

  // Orders CPUs last.
  bool operator<(const Device& o) const {
    return std::tuple(type == kCpu, type, number) < std::tuple(o.type == kCpu, o.type, o.number);
  }
  [[nodiscard]] std::string Name() const {
    std::string name = type >= 0 && type < std::ssize(kDeviceTypes)
                           ? kDeviceTypes[type]
                           : fmt::format("device type {}", type);
    return number < 0 ? name : fmt::format("{} {}", name, number);
  }
  [[nodiscard]] bool IsIn(const Scope& scope) const {
    return scope.device.empty() || scope.device == Name() ||
           (type != kCpu && scope.device == std::to_string(number));
  }
};

// The length of [from, to) in unsigned arithmetic: times in a hostile file may be so far apart that
// a signed difference overflows.
uint64_t Distance(TimeNs from, TimeNs to) {
  return static_cast<uint64_t>(to.ns) - static_cast<uint64_t>(from.ns);
}

int64_t AddWrapped(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t SubtractWrapped(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// An allocation (bytes > 0) or a release.
struct MemoryEvent {
  TimeNs at;
  int64_t bytes = 0;
  std::optional<int64_t> address;
  MemoryLevel after;
};

// Reads each event from the trace whenever it is needed: kept as MemoryEvents they would take five
// times the memory.
class EventReader {
 public:
  EventReader(const Trace& trace, StringId name) : trace_(trace), name_(name) {}

  [[nodiscard]] bool Is(uint32_t row) const { return trace_.instants.name[row] == name_; }
  [[nodiscard]] TimeNs At(uint32_t row) const { return trace_.instants.at[row]; }

  [[nodiscard]] MemoryEvent Read(uint32_t row) const {
    const ArgsOf args{trace_.instants.args[row]};
    return {At(row),
            bytes_.Integer(args).value_or(0),
            address_.Integer(args),
            {Total(allocated_, args), Total(reserved_, args)}};
  }
  // nullopt if the event is damaged.
  [[nodiscard]] std::optional<Device> DeviceOf(uint32_t row) const {
    const ArgsOf args{trace_.instants.args[row]};
    const auto bytes = bytes_.Integer(args), type = type_.Integer(args),
               number = number_.Integer(args);
    if (!bytes || !type || !number || *bytes > kMostBytes || *bytes < -kMostBytes)
      return std::nullopt;
    return Device{*type, std::max<int64_t>(*number, -1)};
  }
  // Sorts by time, then by torch's event count. Events without a count are sorted by their values,
  // releases first, so that the order in the file does not matter.
  [[nodiscard]] bool ComesBefore(uint32_t a, uint32_t b) const {
    if (At(a) != At(b)) return At(a) < At(b);
    const auto key = [&](uint32_t row) {
      const MemoryEvent event = Read(row);
      return std::tuple(order_.Integer({trace_.instants.args[row]}), event.bytes, event.address,
                        event.after.allocated, event.after.reserved);
    };
    return key(a) < key(b);
  }

 private:
  static std::optional<int64_t> Total(const ArgReader& reader, const ArgsOf& args) {
    const auto total = reader.Integer(args);
    return total && *total >= 0 && *total <= kMostBytes ? total : std::nullopt;
  }

  const Trace& trace_;
  StringId name_;
  ArgReader bytes_{trace_, "Bytes"}, type_{trace_, "Device Type"}, number_{trace_, "Device Id"},
      address_{trace_, "Addr"}, allocated_{trace_, "Total Allocated"},
      reserved_{trace_, "Total Reserved"}, order_{trace_, "Ev Idx"};
};

// The maximum of a level in each of equal parts of a time range. A level holds until the next one
// is set.
class MostOverTime {
 public:
  MostOverTime(TimeNs start, uint64_t step, size_t parts)
      : start_(start), step_(step), parts_(parts) {}

  void Start(int64_t level) { level_ = level; }
  void Set(TimeNs at, int64_t level) {
    const size_t part = std::min<uint64_t>(Distance(start_, at) / step_, parts_ - 1);
    FillTo(part);
    level_ = level;
    values_[part] = std::max(values_[part], level);
  }
  std::vector<int64_t> Finish() && {
    FillTo(parts_ - 1);
    return std::move(values_);
  }

 private:
  void FillTo(size_t part) {
    while (values_.size() <= part) values_.push_back(level_);
  }

  TimeNs start_;
  uint64_t step_;
  size_t parts_;
  int64_t level_ = 0;
  std::vector<int64_t> values_;
};

// Names of the innermost and of the outermost operator that is open on `track` at the time `at`.
// The first is kEmpty if no operator is open, the second if fewer than two are open.
std::pair<StringId, StringId> OperatorsAt(const TrackIndex& index, TrackId track, TimeNs at) {
  const LaneRows& ops = index.host_ops();
  if (Index(track) >= ops.lanes()) return {};
  StringId inner = StringId::kEmpty, outer = StringId::kEmpty;
  size_t open = 0;
  const Interval moment{at, {AddSaturated(at.ns, 1)}};
  ops.ForEachIn(Index(track), moment, [&](size_t, uint32_t row) {
    const StringId name = ops.table().name[row];
    if (!ops.table().When(row).contains(at)) return;
    // Not an operator, though old files list it as one.
    if (index.trace().Text(name).starts_with("ProfilerStep#")) return;
    inner = name;
    if (open++ == 0) outer = name;
  });
  return {inner, open > 1 ? outer : StringId::kEmpty};
}

// The events of one device.
class DeviceEvents {
 public:
  // `rows` are sorted by ComesBefore. Neither `rows` nor `when` is empty.
  DeviceEvents(const TrackIndex& index, const EventReader& reader, std::vector<uint32_t> rows,
               Interval when)
      : index_(index), reader_(reader), rows_(std::move(rows)), when_(when) {
    const MemoryEvent first = reader_.Read(rows_.front());
    first_ = first.after;
    if (first_.allocated) *first_.allocated -= first.bytes;
    if (first_.allocated && *first_.allocated < 0) first_.allocated.reset();
    while (begin_ < rows_.size() && reader_.At(rows_[begin_]) < when.start) ++begin_;
    end_ = begin_;
    while (end_ < rows_.size() && reader_.At(rows_[end_]) < when.end) ++end_;
    FindWhatIsTold();
  }

  // `whole`: the trace has no damaged events. A damaged event might belong to this device.
  [[nodiscard]] DeviceMemory Tabulate(std::string name, bool whole) const {
    DeviceMemory memory;
    memory.device = std::move(name);
    for (size_t i = begin_; i < end_; ++i) {
      const int64_t bytes = reader_.Read(rows_[i]).bytes;
      memory.allocations += bytes > 0 ? 1 : 0;
      memory.frees += bytes < 0 ? 1 : 0;
    }
    if (!whole) return memory;
    const uint64_t length = Distance(when_.start, when_.end);
    const uint64_t step = (length - 1) / MemorySeries::kMost + 1;
    const size_t parts = (length - 1) / step + 1;
    memory.series.start = when_.start;
    memory.series.step = {static_cast<int64_t>(step)};
    const MostOverTime over_time(when_.start, step, parts);
    if (allocated_told_) SetAllocated(over_time, memory);
    if (reserved_told_) SetReserved(over_time, memory);
    if (!allocated_told_) SetGrowth(over_time, memory);
    return memory;
  }

 private:
  void FindWhatIsTold() {
    allocated_told_ = first_.allocated.has_value();
    reserved_told_ = addresses_told_ = true;
    int64_t most_reserved = 0;
    for (const uint32_t row : rows_) {
      const MemoryEvent event = reader_.Read(row);
      allocated_told_ = allocated_told_ && event.after.allocated;
      reserved_told_ = reserved_told_ && event.after.reserved;
      addresses_told_ = addresses_told_ && event.address;
      most_reserved = std::max(most_reserved, event.after.reserved.value_or(0));
    }
    reserved_told_ = reserved_told_ && most_reserved > 0;  // 0: the allocator reserves nothing
  }
  [[nodiscard]] MemoryLevel LevelAtStart() const {
    return begin_ == 0 ? first_ : reader_.Read(rows_[begin_ - 1]).after;
  }

  void SetAllocated(MostOverTime over_time, DeviceMemory& memory) const {
    int64_t level = *LevelAtStart().allocated;
    memory.start.allocated = level;
    over_time.Start(level);
    memory.peak = MemoryPeak{.at = when_.start, .allocated = level};
    size_t applied = begin_;  // number of events up to and including the one of the peak
    if (reserved_told_) memory.peak->reserved = LevelAtStart().reserved;
    for (size_t i = begin_; i < end_; ++i) {
      const MemoryEvent event = reader_.Read(rows_[i]);
      level = *event.after.allocated;
      over_time.Set(event.at, level);
      if (level <= memory.peak->allocated) continue;
      memory.peak->at = event.at;
      memory.peak->allocated = level;
      if (reserved_told_) memory.peak->reserved = event.after.reserved;
      applied = i + 1;
    }
    memory.end.allocated = level;
    memory.series.allocated = std::move(over_time).Finish();
    if (addresses_told_) memory.peak->parts = PartsAfter(applied, memory.peak->allocated);
  }

  void SetReserved(MostOverTime over_time, DeviceMemory& memory) const {
    int64_t level = *LevelAtStart().reserved;
    memory.start.reserved = level;
    over_time.Start(level);
    memory.reserved_peak = ReservedPeak{when_.start, level};
    for (size_t i = begin_; i < end_; ++i) {
      const MemoryEvent event = reader_.Read(rows_[i]);
      level = *event.after.reserved;
      over_time.Set(event.at, level);
      if (level > memory.reserved_peak->bytes) memory.reserved_peak = ReservedPeak{event.at, level};
    }
    memory.end.reserved = level;
    memory.series.reserved = std::move(over_time).Finish();
  }

  void SetGrowth(MostOverTime over_time, DeviceMemory& memory) const {
    MemoryGrowth growth{.most_at = when_.start};
    for (size_t i = begin_; i < end_; ++i) {
      const MemoryEvent event = reader_.Read(rows_[i]);
      growth.end = AddSaturated(growth.end, event.bytes);
      over_time.Set(event.at, growth.end);
      if (growth.end <= growth.most) continue;
      growth.most = growth.end;
      growth.most_at = event.at;
    }
    memory.growth = growth;
    memory.series.grown = std::move(over_time).Finish();
  }

  // What the `allocated` bytes consist of after the first `count` events.
  [[nodiscard]] MemoryParts PartsAfter(size_t count, int64_t allocated) const {
    struct Block {
      int64_t bytes;
      uint32_t row;
    };
    std::unordered_map<int64_t, Block> alive;  // live blocks by address
    MemoryParts parts;
    parts.before = *first_.allocated;
    for (size_t i = 0; i < count; ++i) {
      const MemoryEvent event = reader_.Read(rows_[i]);
      // If the address is still in use, no event recorded the release of the old block.
      if (event.bytes > 0) alive.insert_or_assign(*event.address, Block{event.bytes, rows_[i]});
      if (event.bytes >= 0 || alive.erase(*event.address) > 0) continue;
      parts.before = AddSaturated(parts.before, event.bytes);
    }
    parts.before = std::max<int64_t>(parts.before, 0);
    std::map<std::pair<StringId, StringId>, OperatorBlocks> sums;
    for (const auto& [address, block] : alive) {
      const InstantTable& instants = index_.trace().instants;
      OperatorBlocks& sum =
          sums[OperatorsAt(index_, instants.track[block.row], instants.at[block.row])];
      ++sum.blocks;
      sum.bytes = AddWrapped(sum.bytes, block.bytes);
    }
    for (auto& [names, sum] : sums) {
      sum.op = index_.trace().Text(names.first);
      sum.inside = index_.trace().Text(names.second);
      parts.operators.push_back(std::move(sum));
    }
    std::ranges::sort(parts.operators, [](const OperatorBlocks& a, const OperatorBlocks& b) {
      return std::tie(b.bytes, a.op, a.inside) < std::tie(a.bytes, b.op, b.inside);
    });
    parts.untold = SubtractWrapped(allocated, parts.Sum());
    return parts;
  }

  const TrackIndex& index_;
  const EventReader& reader_;
  std::vector<uint32_t> rows_;
  Interval when_;
  MemoryLevel first_;           // level before the first event
  size_t begin_ = 0, end_ = 0;  // range of the events within `when_`
  bool allocated_told_ = false, reserved_told_ = false, addresses_told_ = false;
};

// The time from the first slice or memory event to the last one.
Interval TimeOf(const Trace& trace, const EventReader& reader,
                const std::map<Device, std::vector<uint32_t>>& rows) {
  Interval when = trace.span;
  for (const auto& [device, of_device] : rows) {
    const Interval events{reader.At(of_device.front()),
                          {AddSaturated(reader.At(of_device.back()).ns, 1)}};
    when = when.empty()
               ? events
               : Interval{std::min(when.start, events.start), std::max(when.end, events.end)};
  }
  return when;
}

}  // namespace

int64_t MemoryParts::Sum() const {
  int64_t sum = AddWrapped(before, untold);
  for (const OperatorBlocks& of : operators) sum = AddWrapped(sum, of.bytes);
  return sum;
}

MemoryTable TabulateMemory(const TrackIndex& index, const Scope& scope) {
  const Trace& trace = index.trace();
  MemoryTable table;
  const StringId name = trace.words.strings.Find("[memory]");
  if (name == StringId::kEmpty) return table;
  const EventReader reader(trace, name);
  std::map<Device, std::vector<uint32_t>> rows;
  bool whole = true;
  for (uint32_t row = 0; row < trace.instants.size(); ++row) {
    if (!reader.Is(row)) continue;
    const std::optional<Device> device = reader.DeviceOf(row);
    if (device) {
      rows[*device].push_back(row);
    } else {
      whole = false;
      ++table.damaged;
    }
  }
  for (auto& [device, of_device] : rows) {
    std::ranges::sort(of_device, [&](uint32_t a, uint32_t b) { return reader.ComesBefore(a, b); });
  }
  const Interval when = scope.Clip(TimeOf(trace, reader, rows));
  for (auto& [device, of_device] : rows) {
    if (!device.IsIn(scope) || when.empty()) continue;
    const DeviceEvents events(index, reader, std::move(of_device), when);
    table.devices.push_back(events.Tabulate(device.Name(), whole));
  }
  return table;
}

}  // namespace tacho

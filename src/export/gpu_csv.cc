#include "export/gpu_csv.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/index/arg_reader.h"
#include "base/json_text.h"
#include "export/export_window.h"
#include "export/pieces.h"
#include "query/query_table.h"
#include "text/table.h"

namespace tacho {
namespace {

constexpr size_t kRowsOfPiece = 1000;

Table EmptyGpuTable() {
  Table table{"gpu", {}, {}};
  for (const char* name : {"trace",
                           "rank",
                           "device",
                           "stream",
                           "kind",
                           "name",
                           "short_name",
                           "category",
                           "start_ns",
                           "dur_ns",
                           "end_ns",
                           "correlation",
                           "launch",
                           "launch_thread",
                           "launch_start_ns",
                           "launch_dur_ns",
                           "delay_ns",
                           "operator",
                           "step",
                           "phase",
                           "grid",
                           "block",
                           "registers_per_thread",
                           "shared_memory_bytes",
                           "bytes",
                           "annotation"}) {
    table.columns.push_back({name, name, Unit::kExact});
  }
  return table;
}

// The cells of one line, from left to right.
struct Line {
  std::vector<Cell> cells;

  void Text(std::string_view text) { cells.emplace_back(std::in_place_type<std::string>, text); }
  void Number(int64_t number) { cells.emplace_back(std::in_place_type<int64_t>, number); }
  void Number(const std::optional<int64_t>& number) { number ? Number(*number) : Nothing(); }
  void Nothing(size_t count = 1) { cells.resize(cells.size() + count); }
};

// `item` is a stretch of an operator or collective of a CPU engine. Returns the time of the whole
// operator or collective.
Interval WhenOf(const QueriedTrace& of, const WorkItem& item) {
  const QueriedTrace::Slice slice = of.SliceOf(item);
  return of.Slices(slice.table).When(slice.row);
}
// Whether `item`, work of a CPU engine, gets a line.
bool IsLine(const QueriedTrace& of, const WorkItem& item, Interval window) {
  return !item.continued &&
         (item.kind == WorkKind::kCompute || item.kind == WorkKind::kCommunication) &&
         TouchesWindow(WhenOf(of, item), window);
}

// Writes the lines of one trace.
class TraceLines {
 public:
  TraceLines(const QueriedTrace& of, Interval window, Pieces& out)
      : of_(of), trace_(of.trace()), window_(window), out_(out), bytes_(trace_, "bytes") {}

  void Write() {
    if (of_.prepared().work.on_host) {
      for (const DeviceItems& device : of_.prepared().work.devices) WriteHost(device);
    } else {
      WriteGpu();
    }
    Pass(0);
  }

 private:
  // The cells of a line from `trace` to `end_ns`.
  [[nodiscard]] Line Begin(std::string_view device, std::string_view stream, std::string_view kind,
                           StringId name, std::string_view category, Interval when,
                           DurationNs time) const {
    Line line;
    line.cells.reserve(table_.columns.size());
    line.Text(of_.path());
    line.Number(of_.analysis().facts.rank);
    for (const std::string_view text : {device, stream, kind, trace_.Text(name)}) line.Text(text);
    line.Text(kind == "kernel" ? of_.ShortName(name) : std::string_view());
    line.Text(category);
    for (const int64_t ns : {when.start.ns, time.ns, when.end.ns}) line.Number(ns);
    return line;
  }
  void AddStep(uint32_t step, Line& line) const {
    if (step == 0) return line.Nothing(2);
    line.Number(int64_t{step});
    line.Text(PhaseName(of_.prepared().steps.steps[step - 1].label.phase));
  }

  void WriteHost(const DeviceItems& device) {
    for (const WorkItem& item : device.items) {
      if (!IsLine(of_, item, window_)) continue;
      Line line = Begin(device.device, device.streams[item.stream], "kernel", item.name,
                        of_.classifier().categories()[item.category], WhenOf(of_, item),
                        of_.prepared().work.TimeOf(item));
      line.Nothing(6);
      line.Text(item.row < trace_.host_ops.size() ? trace_.Text(item.name) : std::string_view());
      AddStep(of_.StepAt(item.when.start), line);
      if (!Add(std::move(line))) return;
    }
  }

  void WriteGpu() {
    const GpuTable& gpu = trace_.gpu;
    std::vector<uint32_t> rows(gpu.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::erase_if(rows, [&](uint32_t row) { return !TouchesWindow(gpu.When(row), window_); });
    std::ranges::sort(rows, [&](uint32_t a, uint32_t b) {
      return gpu.start[a] != gpu.start[b] ? gpu.start[a] < gpu.start[b] : a < b;
    });
    for (const uint32_t row : rows) {
      if (!WriteGpu(row)) return;
    }
  }

  bool WriteGpu(uint32_t row) {
    const GpuTable& gpu = trace_.gpu;
    const SliceKind kind = gpu.kind[row];
    const Stream& stream = trace_.words[gpu.stream[row]];
    std::string_view word = kind == SliceKind::kMemcpy ? "copy" : "memset", category;
    if (kind == SliceKind::kKernel) {
      word = "kernel";
      category = of_.classifier().categories()[of_.CategoryOf(gpu.name[row])];
    }
    Line line = Begin(trace_.Text(stream.device), trace_.Text(stream.stream), word, gpu.name[row],
                      category, gpu.When(row), gpu.When(row).length());
    gpu.correlation[row] < 0 ? line.Nothing() : line.Number(int64_t{gpu.correlation[row]});
    AddLaunch(row, line);
    const uint32_t op = of_.OpOfWork(row);
    line.Text(op == QueriedTrace::kNone ? std::string_view()
                                        : trace_.Text(trace_.host_ops.name[op]));
    AddStep(of_.StepOfWork(row), line);
    const LaunchSizes& launch = trace_.words[gpu.launch[row]];
    for (const std::optional<LaunchSizes::Xyz>& xyz : {launch.grid, launch.block})
      line.Text(CompactJson(XyzText(xyz)));
    line.Number(launch.registers);
    line.Number(launch.shared_bytes);
    line.Number(bytes_.Integer(GpuArgs(trace_, row)));
    line.Text(of_.annotations().Of(row));
    return Add(std::move(line));
  }

  void AddLaunch(uint32_t row, Line& line) const {
    const uint32_t call = of_.prepared().links.call_of_gpu[row];
    if (call == LaunchLinks::kNone) return line.Nothing(5);
    const HostCallTable& calls = trace_.host_calls;
    const Interval when = calls.When(call);
    line.Text(trace_.Text(calls.name[call]));
    line.Text(trace_.Text(trace_.words[calls.track[call]].tid));
    line.Number(when.start.ns);
    line.Number(when.length().ns);
    const auto delay = of_.DelayOf(row);
    delay ? line.Number(delay->ns) : line.Nothing();
  }

  bool Add(Line line) {
    line.cells.resize(table_.columns.size());
    table_.Add(std::move(line.cells));
    return Pass(kRowsOfPiece);
  }
  // Writes the rows out once there are at least `least` of them.
  bool Pass(size_t least) {
    if (table_.rows.size() < least) return true;
    out_.text() += std::string_view(RenderCsv(table_)).substr(heading_);
    table_.rows.clear();
    return out_.Pass();
  }

  const QueriedTrace& of_;
  const Trace& trace_;
  Interval window_;
  Pieces& out_;
  ArgReader bytes_;
  Table table_ = EmptyGpuTable();
  size_t heading_ = RenderCsv(table_).size();
};

}  // namespace

bool WriteGpuCsv(const QueriedRun& run, std::span<const Interval> windows, ByteSink& to) {
  Pieces out(to);
  out.text() = RenderCsv(EmptyGpuTable());
  for (size_t i = 0; i < run.traces.size(); ++i)
    TraceLines(*run.traces[i], windows[i], out).Write();
  return out.Finish();
}

bool HasGpuLines(const QueriedTrace& of, Interval window) {
  const DeviceWork& work = of.prepared().work;
  if (work.on_host)
    return std::ranges::any_of(work.devices, [&](const DeviceItems& device) {
      return std::ranges::any_of(device.items,
                                 [&](const WorkItem& item) { return IsLine(of, item, window); });
    });
  const GpuTable& gpu = of.trace().gpu;
  for (size_t row = 0; row < gpu.size(); ++row)
    if (TouchesWindow(gpu.When(row), window)) return true;
  return false;
}

}  // namespace tacho

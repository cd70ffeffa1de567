#include "export/kineto_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "base/json_text.h"
#include "base/parse_number.h"
#include "export/pieces.h"
#include "export/valid_args.h"
#include "io/content_kind.h"
#include "view/slice_detail.h"

namespace tacho {
namespace {

// Converts to microseconds with three decimals, which is exact.
std::string Micros(int64_t ns) {
  const uint64_t whole = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", whole / 1000, whole % 1000);
}

// Name of the process, and of the category, for rows that tacho computed.
constexpr std::string_view kOwn = "tacho";

// Whether a row that tacho computed is exported. Other computed rows tell nothing that the streams
// do not show.
bool IsExported(RowKind kind) { return kind == RowKind::kSteps || kind == RowKind::kIdle; }

// Prefixes that distinguish the processes and ids of one trace from those of other traces. Empty if
// there is only one trace.
struct Prefixes {
  std::string process = {};
  std::optional<uint32_t> trace = {};  // index of the trace in the run, the prefix of its ids
};
// If there are several traces, the ids of each begin at another multiple of this number. Ids are
// written as numbers where they fit, because numbers are read faster than texts.
constexpr int64_t kIdsOfTrace = int64_t{1} << 40;
constexpr uint32_t kMostTracesByNumber = 1 << 13;  // up to 2^53, which a double holds exactly

// Writes the events of one rank.
class RankExport {
 public:
  // `shift`: added to the trace's times to get those of the file. `first`: true as long as no event
  // has been written.
  RankExport(const ExportedRank& exported, Prefixes prefixes, DurationNs shift, Pieces& out,
             bool& first)
      : rank_(*exported.rank),
        prefix_(std::move(prefixes.process)),
        of_trace_(prefixes.trace),
        shift_(shift),
        window_(exported.window),
        cut_(exported),
        args_(rank_.trace()),
        out_(out),
        first_(first) {}

  // Stops early if nothing more can be written.
  void Write() {
    WriteNames();
    for (size_t i = 0; i < rank_.rows().size(); ++i) WriteRow(i);
    WriteInstants();
    WriteRanges();
    WriteCounters();
  }

 private:
  [[nodiscard]] const Trace& trace() const { return rank_.trace(); }
  [[nodiscard]] std::string_view Text(StringId id) const { return trace().Text(id); }
  [[nodiscard]] std::string Time(TimeNs t) const { return Micros((t + shift_).ns); }

  // The pid as in the original file: a number is written without quotes.
  [[nodiscard]] std::string Pid(const Process& process) const {
    if (prefix_.empty() && process.number) return std::to_string(*process.number);
    return QuoteJson(prefix_ + std::string(Text(process.id)));
  }
  [[nodiscard]] std::string Tid(StringId tid) const {
    const std::string_view text = Text(tid);
    const auto number = ParseWhole<int64_t>(text);
    // "007" and "-0" are text.
    return number && std::to_string(*number) == text ? std::string(text) : QuoteJson(text);
  }
  // Viewers join flows and ranges by id, even across processes. So ids must be unique in the file.
  [[nodiscard]] std::string IdMember(int64_t id) const {
    if (!of_trace_) return fmt::format(",\"id\":{}", id);
    if (id >= 0 && id < kIdsOfTrace && *of_trace_ < kMostTracesByNumber)
      return fmt::format(",\"id\":{}", *of_trace_ * kIdsOfTrace + id);
    return fmt::format(",\"id\":\"{}:{}\"", *of_trace_, id);
  }
  [[nodiscard]] std::string Where(TrackId id) const {
    const Track& track = trace().words[id];
    return fmt::format(R"("pid":{},"tid":{})", Pid(trace().words[track.process]), Tid(track.tid));
  }
  [[nodiscard]] std::string Computed(size_t row) const {
    return fmt::format(R"("pid":{},"tid":{})", QuoteJson(prefix_ + "tacho"), row + 1);
  }
  [[nodiscard]] std::string_view Category(CategoryId id) const {
    return Text(trace().words[id].name);
  }

  std::string_view Separator() { return std::exchange(first_, false) ? "\n" : ",\n"; }
  // Writes one event. `more`: text after its time, beginning with a comma.
  void Event(char ph, std::string_view category, std::string_view name, TimeNs at,
             std::string_view where, std::string_view more) {
    std::string& text = out_.text();
    fmt::format_to(std::back_inserter(text), "{}{{\"ph\":\"{}\"", Separator(), ph);
    if (!category.empty()) text += ",\"cat\":" + QuoteJson(category);
    fmt::format_to(std::back_inserter(text), R"(,"name":{},{},"ts":{}{}}})", QuoteJson(name), where,
                   Time(at), more);
    out_.Pass();
  }
  void NameOf(std::string_view what, std::string_view where, std::string_view name) {
    fmt::format_to(std::back_inserter(out_.text()),
                   "{}{{\"ph\":\"M\",\"name\":\"{}\",{},\"args\":{{\"name\":{}}}}}", Separator(),
                   what, where, QuoteJson(name));
    out_.Pass();
  }
  [[nodiscard]] std::string ArgsMember(const ArgsOf& args) {
    const std::string text = args_.Json(args);
    return text.empty() ? "" : ",\"args\":" + CompactJson(text);
  }

  // By process: whether it has threads that tacho added in an earlier export.
  [[nodiscard]] std::vector<bool> ProcessesOfAnEarlierExport() const {
    std::vector<bool> earlier(trace().words.processes().size());
    for (size_t row = 0; row < trace().others.size(); ++row) {
      if (Category(trace().others.category[row]) == kOwn)
        earlier[Index(trace().words[trace().others.track[row]].process)] = true;
    }
    return earlier;
  }

  void WriteNames() {
    const std::vector<bool> earlier = ProcessesOfAnEarlierExport();
    for (size_t i = 0; i < earlier.size(); ++i) {
      const Process& process = trace().words.processes()[i];
      if (process.name == StringId::kEmpty || earlier[i]) continue;
      NameOf("process_name", fmt::format(R"("pid":{},"tid":0)", Pid(process)), Text(process.name));
    }
    for (size_t i = 0; i < trace().words.tracks().size(); ++i) {
      const Track& track = trace().words.tracks()[i];
      const StringId name = track.name;
      if (name != StringId::kEmpty && !earlier[Index(track.process)])
        NameOf("thread_name", Where(static_cast<TrackId>(i)), Text(name));
    }
    for (size_t i = 0; i < rank_.rows().size(); ++i) {
      const TimelineRow& row = rank_.rows()[i];
      if (!IsExported(row.kind) || row.lanes.empty()) continue;
      NameOf("process_name", Computed(i), prefix_ + "tacho");
      const std::string owner = row.owner.empty() ? "" : row.owner + " ";
      NameOf("thread_name", Computed(i), owner + row.label);
    }
  }

  void WriteRow(size_t number) {
    const TimelineRow& row = rank_.rows()[number];
    if (row.group == RowGroup::kComputed && !IsExported(row.kind)) return;
    for (const Lane& lane : row.lanes) {
      const Lane::Places places = lane.In(window_);
      for (size_t place = places.first; place < places.last && out_.can_write(); ++place) {
        const SliceRef slice = lane[place];
        // Not exported as slices.
        if (static_cast<DrawnFrom>(slice.table()) == DrawnFrom::kMarks) break;
        const bool computed = static_cast<DrawnFrom>(slice.table()) == DrawnFrom::kComputed;
        if (!computed && IsOfAnEarlierExport(slice)) continue;
        const Interval when = cut_.Of(slice, lane.When(place));
        const std::string where =
            computed ? Computed(number) : Where(lane.TableOf(place).slices->track[slice.row()]);
        Event('X', computed ? kOwn : CategoryInFile(rank_, slice), lane.NameText(place), when.start,
              where,
              ",\"dur\":" + Micros(when.length().ns) + ArgsMember(ArgumentsOfSlice(rank_, slice)));
        if (!computed) WriteFlow(slice, when, where);
      }
    }
  }

  [[nodiscard]] bool IsOfAnEarlierExport(SliceRef slice) const {
    return static_cast<DrawnFrom>(slice.table()) == DrawnFrom::kOthers &&
           Category(trace().others.category[slice.row()]) == kOwn;
  }

  // Writes the ends of flows as Kineto does: one at each call that launched work, and one at each
  // piece of its work.
  void WriteFlow(SliceRef slice, Interval when, std::string_view where) {
    const LaunchLinks& links = rank_.view().links();
    const auto from = static_cast<DrawnFrom>(slice.table());
    const bool is_call = from == DrawnFrom::kHostCalls && links.first.LaunchedWork(slice.row());
    if (!is_call && from != DrawnFrom::kGpu) return;
    const uint32_t call = is_call ? slice.row() : links.call_of_gpu[slice.row()];
    if (call == LaunchLinks::kNone) return;
    const int64_t id = trace().host_calls.correlation[call];
    Event(is_call ? 's' : 'f', "ac2g", "ac2g", when.start, where,
          IdMember(id) + (is_call ? "" : ",\"bp\":\"e\""));
  }

  void WriteInstants() {
    const InstantTable& table = trace().instants;
    for (size_t i = 0; i < table.size() && out_.can_write(); ++i) {
      if (!window_.contains(table.at[i])) continue;
      Event('i', "", Text(table.name[i]), table.at[i], Where(table.track[i]),
            ",\"s\":\"t\"" + ArgsMember({table.args[i]}));
    }
  }

  void WriteRanges() {
    const RangeTable& table = trace().ranges;
    for (size_t i = 0; i < table.size() && out_.can_write(); ++i) {
      const bool open = table.duration[i] == NarrowColumn::kNone;
      const TimeNs end = open ? window_.end : table.start[i] + DurationNs{table.duration[i]};
      if (table.start[i] >= window_.end || end < window_.start) continue;
      const std::string id = IdMember(static_cast<int64_t>(i) + 1);
      const std::string_view category = Category(table.category[i]), name = Text(table.name[i]);
      Event('b', category, name, table.start[i], Where(table.track[i]),
            id + ArgsMember({table.args[i]}));
      if (!open) Event('e', category, name, end, Where(table.track[i]), id);
    }
  }

  void WriteCounters() {
    const CounterTable& table = trace().counters;
    for (size_t i = 0; i < table.size() && out_.can_write(); ++i) {
      if (!window_.contains(table.at[i])) continue;
      const Metric& metric = trace().words.metrics()[Index(table.metric[i])];
      const auto* const decimal = std::get_if<double>(&table.value[i]);
      if (decimal != nullptr && !std::isfinite(*decimal)) continue;
      const std::string value = decimal != nullptr
                                    ? fmt::format("{}", *decimal)
                                    : std::to_string(std::get<int64_t>(table.value[i]));
      Event('C', "", Text(metric.name), table.at[i],
            fmt::format("\"pid\":{}", Pid(trace().words[metric.owner])),
            fmt::format(",\"args\":{{{}:{}}}", QuoteJson(Text(metric.series)), value));
    }
  }

  const ViewedRank& rank_;
  std::string prefix_;
  std::optional<uint32_t> of_trace_;
  DurationNs shift_;
  Interval window_;
  PartCut cut_;
  ValidArgs args_;
  Pieces& out_;
  bool& first_;
};

// Writes the members of the header, each with a comma before it. If there are several ranks, writes
// only members that are true for all of them.
void WriteHeader(const Trace& trace, bool alone, std::string& out) {
  bool has_base = false;
  for (const auto& [key, json] : trace.header.fields) {
    if (!alone && key != "baseTimeNanoseconds" && key != "deviceProperties") continue;
    if (key == "schemaVersion" || key == "exporter" || !IsJson(json)) continue;
    has_base = has_base || key == "baseTimeNanoseconds";
    out += ",\n" + QuoteJson(key) + ":" + CompactJson(json);
  }
  if (!has_base && trace.header.base_time_ns >= 0)
    out += fmt::format(",\n\"baseTimeNanoseconds\":{}", trace.header.base_time_ns);
}

std::optional<int64_t> RankOf(const ExportedRank& exported) {
  const TraceFacts& facts = exported.rank->facts();
  return facts.role == TraceRole::kWorker ? facts.rank : std::nullopt;
}

// A prefix with the rank if no other trace has the same one, else with the index of the trace.
std::string ProcessPrefix(std::span<const ExportedRank> all, const ExportedRank& exported) {
  const auto rank = RankOf(exported);
  if (rank && std::ranges::count(all, rank, RankOf) == 1) return fmt::format("[TP{:02}] ", *rank);
  return fmt::format("[trace {}] ", exported.number);
}

// Collects text in memory, up to a maximum size.
class BoundedText : public ByteSink {
 public:
  explicit BoundedText(size_t most) : most_(most) {}
  bool Write(std::string_view bytes) override {
    if (bytes.size() > most_ - text_.size()) return false;
    text_ += bytes;
    return true;
  }
  std::string Take() { return std::move(text_); }

 private:
  size_t most_;
  std::string text_;
};

}  // namespace

bool WriteKinetoJson(std::span<const ExportedRank> ranks, ByteSink& to) {
  const ViewedRank& first = *ranks.front().rank;
  const bool alone = ranks.size() == 1;
  Pieces out(to);
  out.text() = std::string(kKinetoExportBegin) + ",\"schemaVersion\":1";
  WriteHeader(first.trace(), alone, out.text());
  out.text() += ",\n\"traceEvents\":[";
  bool is_first = true;
  for (const ExportedRank& exported : ranks) {
    const Prefixes prefixes =
        alone ? Prefixes{} : Prefixes{ProcessPrefix(ranks, exported), exported.number};
    RankExport(exported, prefixes, exported.rank->offset() - first.offset(), out, is_first).Write();
  }
  out.text() += "\n]}\n";
  return out.Finish();
}

Result<std::string> ExportWindow(const ReadRanks& ranks, const Selection& selection,
                                 size_t most_bytes) {
  std::vector<ExportedRank> chosen;
  size_t slices = 0;
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i] || !selection.Has(i)) continue;
    chosen.push_back({ranks[i].get(), i, ranks[i]->ToTrace(selection.window)});
    slices += SlicesIn(*ranks[i], chosen.back().window);
  }
  if (chosen.empty()) return Fail(ErrorKind::kUsage, "no rank of the selection is read");
  if (slices > kMostExported) {
    return Fail(ErrorKind::kUsage,
                fmt::format("the selection holds {} slices, and an export at most {}: select less",
                            slices, kMostExported));
  }
  BoundedText out(most_bytes);
  if (!WriteKinetoJson(chosen, out)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("the export takes more than {} MB: select less", most_bytes >> 20));
  }
  return out.Take();
}

}  // namespace tacho

// The tables with results of analyses: `steps`, `gaps`, `devices`, `ranks`, `notes`.
#include "query/query_table.h"

namespace tacho {
namespace {

const Step& StepAtRow(const QueryRow& row) { return row.trace->prepared().steps.steps[row.row]; }
const QueriedTrace::Gap& GapAt(const QueryRow& row) { return row.trace->gaps().parts[row.row]; }
const Interval& WholeGap(const QueryRow& row) { return row.trace->gaps().whole[GapAt(row).gap]; }
const WorkItem* EndOfGap(const QueryRow& row) { return row.trace->EndOf(GapAt(row)); }
const DeviceTime& DeviceAt(const QueryRow& row) { return row.trace->analysis().devices[row.row]; }
const Note& NoteAt(const QueryRow& row) { return row.trace->analysis().notes.list()[row.row]; }

QueryValue UnlessEmptyText(std::string_view text) {
  return text.empty() ? QueryValue() : QueryValue(text);
}
template <auto kMember>
QueryValue OfLabel(const QueryRow& row) {
  return KnownOrNull(StepAtRow(row).label.*kMember);
}
template <auto kMember>
QueryValue OfStep(const QueryRow& row) {
  return KnownOrNull(StepAtRow(row).*kMember);
}
// A time of a device, `kMember` of DeviceTime. `kOfWhole`: it is unknown if the device lost work.
template <auto kMember, bool kOfWhole>
QueryValue OfDevice(const QueryRow& row) {
  if (kOfWhole && !DeviceAt(row).whole) return QueryValue();
  return (DeviceAt(row).*kMember).ns;
}
template <auto kMember, bool kOfWhole = false>
QueryColumn DeviceColumn(std::string_view name, std::string_view says) {
  return {name, "INTEGER", says, QueryRole::kPlain, OfDevice<kMember, kOfWhole>};
}
// The id of the work that ends a gap.
QueryValue IdOfEnd(const QueryRow& row) {
  const WorkItem* const end = EndOfGap(row);
  if (end == nullptr) return {};
  const QueriedTrace::Slice slice = row.trace->SliceOf(*end);
  return row.trace->IdOf(slice.table, slice.row);
}
QueryValue StepOfEnd(const QueryRow& row) {
  const WorkItem* const end = EndOfGap(row);
  return end == nullptr ? QueryValue() : StepOrNull(row.trace->StepOf(*end));
}

QueryWords GapWords(uint32_t (*of)(const QueryRow&)) {
  return {of, StringCount, [](const QueriedTrace& trace, uint32_t id) {
            return id == 0 ? std::nullopt : StringOf(trace, id);
          }};
}

}  // namespace

QueryTable StepsQueryTable() {
  using enum QueryRole;
  return {
      .name = "steps",
      .says = "steps of the engine, by its own annotations",
      .columns =
          {RankColumn(),
           TraceColumn(),
           WorkerColumn(),
           {"number", "INTEGER", "in the trace, from 1", kKey,
            [](const QueryRow& row) { return QueryValue(int64_t{row.row} + 1); }},
           {"phase",
            "TEXT",
            "prefill, decode, mixed, empty or other",
            kPlain,
            nullptr,
            {[](const QueryRow& row) -> uint32_t {
               return static_cast<uint32_t>(StepAtRow(row).label.phase);
             },
             [](const QueriedTrace&) { return kPhaseCount; },
             [](const QueriedTrace&, uint32_t phase) {
               return std::optional(PhaseName(static_cast<Phase>(phase)));
             }}},
           {"start_ns", "INTEGER", "on the clock of the trace", kStart,
            [](const QueryRow& row) { return QueryValue(StepAtRow(row).when.start.ns); }},
           Plain("dur_ns", "INTEGER", "on the host",
                 [](const QueryRow& row) { return QueryValue(StepAtRow(row).when.length().ns); }),
           {"end_ns", "INTEGER", "start_ns + dur_ns", kEnd,
            [](const QueryRow& row) { return QueryValue(StepAtRow(row).when.end.ns); }},
           Plain("period_ns", "INTEGER", "from its start to the next one's", OfStep<&Step::period>),
           Plain("context_requests", "INTEGER", "requests in prefill",
                 OfLabel<&StepLabel::context_requests>),
           Plain("context_tokens", "INTEGER", "their tokens", OfLabel<&StepLabel::context_tokens>),
           Plain("generation_requests", "INTEGER", "requests in decode",
                 OfLabel<&StepLabel::generation_requests>),
           Plain("generation_tokens", "INTEGER", "their tokens",
                 OfLabel<&StepLabel::generation_tokens>),
           Plain("device_span_ns", "INTEGER", "first to last work that it launched",
                 OfStep<&Step::device_span>),
           Plain("device_busy_ns", "INTEGER", "when any of that ran", OfStep<&Step::device_busy>)},
      .rows = [](const QueriedTrace& trace,
                 uint32_t) { return trace.prepared().steps.steps.size(); },
      .find = [](const QueriedTrace& trace, int64_t number) -> std::optional<QueryRow> {
        if (number < 1 || static_cast<uint64_t>(number) > trace.prepared().steps.steps.size())
          return std::nullopt;
        return QueryRow{&trace, 0, static_cast<uint32_t>(number - 1)};
      }};
}

QueryTable GapsQueryTable() {
  using enum QueryRole;
  return {
      .name = "gaps",
      .says = "idle time of devices by cause: docs/metrics.md",
      .columns =
          {RankColumn(),
           TraceColumn(),
           WorkerColumn(),
           {"device",
            "TEXT",
            "by the trace's own id",
            kPlain,
            nullptr,
            {[](const QueryRow& row) { return GapAt(row).part.device; },
             [](const QueriedTrace& trace) { return trace.prepared().work.devices.size(); },
             [](const QueriedTrace& trace, uint32_t device) {
               return std::optional<std::string_view>(trace.prepared().work.devices[device].device);
             }}},
           Plain("gap", "INTEGER",
                 "number of the gap in the trace, from 1: with two causes it has two rows",
                 [](const QueryRow& row) { return QueryValue(int64_t{GapAt(row).gap} + 1); }),
           {"cause",
            "TEXT",
            "host-late, in-launch-call, launch-latency, ...",
            kPlain,
            nullptr,
            {[](const QueryRow& row) { return static_cast<uint32_t>(GapAt(row).part.cause); },
             [](const QueriedTrace&) { return static_cast<size_t>(IdleCause::kCount); },
             [](const QueriedTrace&, uint32_t cause) {
               return std::optional(IdleCauseId(static_cast<IdleCause>(cause)));
             }}},
           {"start_ns", "INTEGER", "on the clock of the trace", kStart,
            [](const QueryRow& row) { return QueryValue(GapAt(row).part.when.start.ns); }},
           Plain("dur_ns", "INTEGER", "of this cause",
                 [](const QueryRow& row) { return QueryValue(GapAt(row).part.when.length().ns); }),
           {"end_ns", "INTEGER", "start_ns + dur_ns", kEnd,
            [](const QueryRow& row) { return QueryValue(GapAt(row).part.when.end.ns); }},
           Plain("gap_start_ns", "INTEGER", "of the whole gap, over all its causes",
                 [](const QueryRow& row) { return QueryValue(WholeGap(row).start.ns); }),
           Plain("gap_dur_ns", "INTEGER", "of the whole gap",
                 [](const QueryRow& row) { return QueryValue(WholeGap(row).length().ns); }),
           Plain("gap_end_ns", "INTEGER", "of the whole gap",
                 [](const QueryRow& row) { return QueryValue(WholeGap(row).end.ns); }),
           {"before", "TEXT", "the work that ends last before the gap", kPlain, nullptr,
            GapWords([](const QueryRow& row) { return Index(GapAt(row).part.before); })},
           {"after", "TEXT", "the work that ends the gap", kPlain, nullptr,
            GapWords([](const QueryRow& row) {
              const WorkItem* const end = EndOfGap(row);
              return end == nullptr ? 0 : Index(end->name);
            })},
           Plain("after_id", "INTEGER", "its slice", IdOfEnd),
           Plain("step", "INTEGER", "number of the step in which that was launched", StepOfEnd)},
      .rows = [](const QueriedTrace& trace, uint32_t) { return trace.gaps().parts.size(); },
      .rows_cost = true};
}

QueryTable DevicesQueryTable() {
  return {
      .name = "devices",
      .says = "where the time of each device goes: docs/metrics.md",
      .columns =
          {RankColumn(), TraceColumn(), WorkerColumn(),
           Plain("device", "TEXT", "by the trace's own id",
                 [](const QueryRow& row) {
                   return QueryValue(std::string_view(DeviceAt(row).device));
                 }),
           Plain("start_ns", "INTEGER", "of its window, the first work",
                 [](const QueryRow& row) { return QueryValue(DeviceAt(row).window.start.ns); }),
           Plain("window_ns", "INTEGER", "to the last work: busy_ns + idle_ns",
                 [](const QueryRow& row) { return QueryValue(DeviceAt(row).window.length().ns); }),
           DeviceColumn<&DeviceTime::busy>("busy_ns", "any work ran"),
           DeviceColumn<&DeviceTime::idle, true>("idle_ns", "no work ran; NULL if work was lost"),
           DeviceColumn<&DeviceTime::compute>("compute_ns", "something computed"),
           DeviceColumn<&DeviceTime::exposed_comm, true>("exposed_comm_ns",
                                                         "communication while nothing computed"),
           DeviceColumn<&DeviceTime::exposed_copy, true>(
               "exposed_copy_ns", "copies while nothing computed or communicated"),
           DeviceColumn<&DeviceTime::kernel_sum>("kernel_sum_ns", "durations of kernels added up")},
      .rows = [](const QueriedTrace& trace, uint32_t) { return trace.analysis().devices.size(); }};
}

QueryTable RanksQueryTable() {
  return {
      .name = "ranks",
      .says = "the traces, one row each",
      .columns = {RankColumn(), TraceColumn(false), WorkerColumn(false),
                  Plain("path", "TEXT", "of the file",
                        [](const QueryRow& row) {
                          return QueryValue(std::string_view(row.trace->path()));
                        }),
                  Plain("format", "TEXT", "kineto or nsys",
                        [](const QueryRow& row) {
                          return QueryValue(TraceFormatName(row.trace->trace().header.format));
                        }),
                  Plain("role", "TEXT", "worker, frontend, merged, capture or foreign",
                        [](const QueryRow& row) {
                          return QueryValue(TraceRoleName(row.trace->analysis().facts.role));
                        }),
                  Plain("world_size", "INTEGER", "ranks of the job",
                        [](const QueryRow& row) {
                          return KnownOrNull(row.trace->analysis().facts.world_size);
                        }),
                  Plain("engine", "TEXT", "vllm or sglang",
                        [](const QueryRow& row) {
                          return UnlessEmptyText(row.trace->analysis().facts.engine);
                        }),
                  Plain("engine_version", "TEXT", "as the trace says",
                        [](const QueryRow& row) {
                          return UnlessEmptyText(row.trace->analysis().facts.engine_version);
                        }),
                  Plain("base_time_ns", "INTEGER", "Unix time of 0 on the clock of the trace",
                        [](const QueryRow& row) {
                          return KnownOrNull(row.trace->trace().header.base_time_ns);
                        }),
                  Plain("start_ns", "INTEGER", "first event",
                        [](const QueryRow& row) {
                          return QueryValue(row.trace->trace().span.start.ns);
                        }),
                  Plain("dur_ns", "INTEGER", "to the end of the last event",
                        [](const QueryRow& row) {
                          return QueryValue(row.trace->trace().span.length().ns);
                        }),
                  Plain("events", "INTEGER", "all of the file",
                        [](const QueryRow& row) {
                          return QueryValue(static_cast<int64_t>(row.trace->trace().counts.total));
                        })},
      .rows = [](const QueriedTrace&, uint32_t) { return size_t{1}; }};
}

QueryTable NotesQueryTable() {
  return {
      .name = "notes",
      .says = "what is wrong with the data: docs/notes.md",
      .columns = {RankColumn(), TraceColumn(), WorkerColumn(),
                  Plain("id", "TEXT", "truncated-json, no-gpu-events, ...",
                        [](const QueryRow& row) { return QueryValue(KindOf(NoteAt(row).id).id); }),
                  Plain("severity", "TEXT", "info, notice or data-loss",
                        [](const QueryRow& row) {
                          return QueryValue(SeverityName(KindOf(NoteAt(row).id).severity));
                        }),
                  Plain("count", "INTEGER", "how often",
                        [](const QueryRow& row) {
                          return QueryValue(static_cast<int64_t>(NoteAt(row).count));
                        }),
                  Plain("place", "TEXT", "the first one",
                        [](const QueryRow& row) { return UnlessEmptyText(NoteAt(row).where); }),
                  Plain(
                      "text", "TEXT", "what it means for the figures",
                      [](const QueryRow& row) { return QueryValue(KindOf(NoteAt(row).id).text); }),
                  Plain("remedy", "TEXT", "what to do",
                        [](const QueryRow& row) {
                          return UnlessEmptyText(
                              RemedyOf(NoteAt(row).id, row.trace->analysis().notes));
                        })},
      .rows = [](const QueriedTrace& trace, uint32_t) {
        return trace.analysis().notes.list().size();
      }};
}

}  // namespace tacho

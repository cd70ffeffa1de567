#pragma once

#include <iterator>
#include <set>

#include "analysis/schema/trace_fields.h"
#include "report/device_totals.h"
#include "report/json/blame_fields.h"
#include "report/json/finding_fields.h"
#include "report/json/request_fields.h"
#include "report/words/caveat.h"
#include "report/words/idle_words.h"
#include "report/words/rank_text.h"
#include "report/words/verdict.h"
#include "text/format_number.h"
#include "text/json_writer.h"

// Writes the fields of a run in schema 1 (docs/json.md). The fields of its traces are in
// analysis/schema/; conditions.h in that folder explains `out`.
namespace tacho::schema {

inline constexpr size_t kMostMissing = 1'000;  // at most so many ranks are listed one by one
// The first kMostMissing missing ranks of one engine, or of all engines together.
std::set<int64_t> FirstOf(const MissingRanks& missing);
std::set<int64_t> FirstOf(const std::vector<MissingRanks>& missing);

// Writes the times of a rank, or of several devices together.
void Times(auto& out, const auto& times) {
  out.Field(Key{"whole", "`false`: as in `traces[].devices`"}, UnlessIs(times.whole, true));
  out.Field(Key{"window_ns",
                "sum of the windows over its devices, as in `traces[].devices`; absent, like the "
                "fields below, if one device has no times"},
            times.window);
  out.Field(Key{"busy_ns", "sum of busy time"}, times.busy);
  if (Holds(out, times.whole)) out.Field(Key{"idle_ns", "sum of idle time"}, times.idle);
  out.Field(Key{"compute_ns", "sum of compute time"}, times.compute);
  if (Holds(out, times.whole)) {
    out.Field(Key{"exposed_comm_ns", "sum of exposed communication"}, times.exposed_comm);
    out.Field(Key{"exposed_copy_ns", "sum of exposed copies"}, times.exposed_copy);
  }
  out.Field(Key{"comm_busy_ns", "sum of the unions of communication kernels"}, times.comm_busy);
  out.Field(Key{"kernel_sum_ns", "sum of kernel durations"}, times.kernel_sum);
}

// Writes what a verdict says about idle time and kernels.
void MainShares(auto& out, const RunTotals& totals) {
  const DeviceTotals& devices = totals.devices;
  if (Holds(out, devices.idle.ns > 0 && !totals.idle.causes.empty())) {
    const IdleCauseRow cause =
        totals.idle.causes.empty() ? IdleCauseRow{} : totals.idle.causes.front();
    out.Field(Key{"idle_cause", "cause with most of the idle time, as in `traces[].idle.causes`"},
              IdleCauseId(cause.cause));
    out.Field(Key{"idle_cause_share", "share of that cause in the idle time"},
              ShareOf(cause.total, totals.idle.window - totals.idle.busy));
    const bool at_least = !totals.idle.causes.empty() && IsAtLeast(totals.idle);
    out.Field(Key{"idle_cause_is_at_least",
                  "`true`: `idle_cause_share` is a lower bound, because 1 % of the idle time or "
                  "more has no known cause"},
              UnlessIs(at_least, false));
  }
  if (Holds(out, devices.whole && !totals.kernels.categories.empty())) {
    const CategoryRow category =
        totals.kernels.categories.empty() ? CategoryRow{} : totals.kernels.categories.front();
    out.Field(Key{"category", "category with most kernel time"}, category.category);
    out.Field(Key{"category_share", "share of that category in the kernel time"},
              ShareOf(category.total, totals.kernels.total));
  }
}

void Verdict(auto& out, const RunAnalysis& run) {
  if (run.traces.empty()) return;
  const RunVerdict verdict = VerdictOf(run);
  const RunTotals totals = TotalsOf(run);
  const DeviceTotals& devices = totals.devices;
  out.BeginObject(Key{"verdict", "verdict, as on the screen"});
  out.Field(Key{"text", "sentence on the screen"}, verdict.text);
  out.Field(Key{"caveat", "reason why the verdict may be wrong"}, UnlessEmpty(verdict.caveat));
  if (Holds(out, devices.window.ns > 0)) {
    out.Field(Key{"busy_share",
                  "busy time over the window of all devices, 0..1; absent without device work"},
              ShareOf(devices.busy, devices.window));
    const bool at_least = BusyIsLeast(run);
    out.Field(Key{"busy_is_at_least",
                  "`true`: `busy_share` is a lower bound, because work is missing, or may be"},
              UnlessIs(at_least, false));
    if (Holds(out, devices.whole))
      out.Field(Key{"exposed_comm_share", "exposed communication over the same window"},
                ShareOf(devices.exposed_comm, devices.window));
    MainShares(out, totals);
  }
  StragglerRow(out, run.ranks);
  out.End();
}

void MissingIn(auto& out, const std::vector<MissingRanks>& missing) {
  out.Rows(Key{"missing_in", "engines that lack ranks"}, missing, [&](const MissingRanks& engine) {
    out.Field(Key{"worker", "name of the worker: `w1`, if a trace names it"},
              UnlessEmpty(engine.worker));
    out.Field(Key{"world_size", "world size"}, engine.world_size);
    out.Field(
        Key{"engines", "number of such engines: more than 1 if no trace distinguishes that many"},
        engine.engines);
    out.List(Key{"ranks", "ranks without a trace, the first 1,000"}, FirstOf(engine));
    out.Field(Key{"count", "number of ranks that they lack"}, engine.count);
  });
}

void Ranks(auto& out, const RankTable& ranks) {
  out.BeginObject(Key{"ranks",
                      "ranks side by side, of a run with several worker traces, or with one while "
                      "others are missing"});
  out.Field(Key{"world_size", "largest world size that a trace names"}, ranks.world_size);
  out.List(Key{"present", "ranks with a trace"}, ranks.present);
  out.List(Key{"missing",
               "ranks that at least one engine lacks, the first 1,000; exit status 4. Empty if you "
               "asked for only a part of the run (`--rank`)"},
           FirstOf(ranks.missing));
  out.Field(Key{"missing_count", "number of missing ranks, over all engines"},
            ranks.missing_count());
  MissingIn(out, ranks.missing);
  out.Field(Key{"with_trace",
                "number of ranks that have a trace, over all replicas and data-parallel engines"},
            ranks.ranks_with_trace);
  out.Field(Key{"in_all",
                "number of ranks that there should be by the world sizes; a rank that was recorded "
                "several times counts once"},
            ranks.ranks_in_all);
  out.Rows(
      Key{"table", "worker traces by identity (worker, rank, stage), then path"}, ranks.rows,
      [&](const RankRow& row) {
        out.Field(Key{"rank", "rank by the header, else by the process name"}, row.rank);
        out.Field(Key{"path", "path of the trace"}, row.path);
        Identity(out, row.identity);
        if (Holds(out, row.window.ns > 0)) Times(out, row);
        out.Field(Key{"steps", "number of steps"}, row.steps);
        out.Field(Key{"start_unix_ns", "Unix time of the first device work"}, row.start_unix_ns);
        out.Field(Key{"recording",
                      "number of the recording that the trace belongs to, from 0. Ranks whose "
                      "traces overlap in time and name the same world size and GPUs share one; "
                      "only these are compared"},
                  row.recording);
      });
  if (Holds(out, ranks.rows.size() > 1))
    out.Field(Key{"busy_spread",
                  "largest minus smallest busy share of a recording's ranks, 0..1, for the "
                  "recording where this is largest"},
              ranks.busy_spread());
  if (Holds(out, ranks.slowest.has_value())) {
    out.Field(Key{"slowest",
                  "place in `table` of the rank that computes longest in the recording with most "
                  "ranks: its row with the most compute time"},
              ranks.slowest);
    out.Field(Key{"slowest_compute_ns", "compute time of that rank, over all its rows"},
              ranks.slowest_compute);
    out.Field(Key{"median_compute_of_others_ns",
                  "median compute time of the other ranks of its recording, by nearest rank"},
              ranks.median_of_others);
  }
  if (Holds(out, ranks.rows.size() > 1)) Blame(out, ranks);
  out.List(Key{"warnings",
               "sentences to know before comparing: traces that claim the same rank, several world "
               "sizes, several recordings"},
           ranks.warnings);
  out.End();
}

void PathsUnlessEmpty(auto& out, const Key& key, const std::vector<std::string>& paths) {
  if (Holds(out, !paths.empty())) out.List(key, paths);
}

// Writes all that `tacho analyze --json` prints. `short_names` takes a KernelTable and returns a
// function from each of its rows to the row's short name.
void Run(auto& out, const RunAnalysis& run, std::string_view version, const auto& short_names) {
  out.Field(Key{"schema",
                "version of this description, 1; grows when a field is removed or changes its "
                "meaning, not when one is added"},
            kVersion);
  out.BeginRow(Key{"tacho", "program that wrote this"});
  out.Field(Key{"version", "version of tacho"}, version);
  out.End();
  Verdict(out, run);
  Findings(out, run);
  out.Objects(Key{"traces", "traces, one for each trace file, by path, also inside an archive"},
              run.traces,
              [&](auto& trace) { TraceFields(out, trace, short_names(trace.kernels)); });
  if (Holds(out, !run.together.empty())) {
    out.Objects(Key{"together",
                    "slices of one recording that overlap in time: their windows cannot be added"},
                run.together, [&](auto& slices) { Together(out, slices); });
  }
  if (Holds(out, !run.ranks.rows.empty())) Ranks(out, run.ranks);
  if (Holds(out, run.requests.any())) Requests(out, run.requests);
  out.List(Key{"skipped",
               "files that are not traces or could not be read: `PATH: why`; also the traces of "
               "other sessions"},
           run.skipped);
  PathsUnlessEmpty(out,
                   Key{"captures",
                       "paths of recordings of graph capture that lie in a given folder or archive "
                       "beside its traces; they were not read"},
                   run.captures);
  PathsUnlessEmpty(
      out,
      Key{"failed",
          "entries of `skipped` that should be traces and could not be read: exit status 4"},
      run.failed);
  PathsUnlessEmpty(out,
                   Key{"unproven",
                       "sentences, for a recording of tacho, one for each rank that it could not "
                       "prove (`missing` of its `run.json`): exit status 4. Absent if you asked "
                       "for only a part of the run"},
                   run.unproven);
}

}  // namespace tacho::schema

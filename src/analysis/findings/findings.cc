#include "analysis/findings/findings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/findings/doubts.h"
#include "analysis/findings/request_findings.h"
#include "analysis/findings/waits.h"
#include "analysis/run_totals.h"

namespace tacho {
namespace {

// A trace with its index in the run.
struct TimedTrace {
  size_t index;
  const TraceAnalysis* trace;
};

// Collects the findings about the time of devices.
class DeviceFindings {
 public:
  DeviceFindings(const DeviceTotals& totals, const IdleTable& idle, std::vector<TimedTrace> traces)
      : totals_(totals), idle_(idle), traces_(std::move(traces)), whole_(totals.window) {
    for (const TimedTrace& of : traces_) {
      at_most_ = at_most_ || BusyIsLeast(*of.trace);
      common_clock_ = common_clock_ && of.trace->integrity.common_clock();
    }
    for (const IdleCauseRow& row : idle_.causes) {
      if (row.cause == IdleCause::kNoRequest) whole_ -= row.total;
    }
  }

  // Adds the causes of idle time. Returns false if nothing else can be said about devices: no
  // device has times, or it is unknown when they were idle, or no request was ever in flight. If
  // data is missing or wrong, adds a finding that says so. `refused`: device times of some trace
  // are impossible.
  bool AddIdle(bool refused);
  void AddExposed();
  void AddWaits(const WaitsSplit& split, const RankTable& ranks);
  void AddCopies();
  // After AddStraggler, whose cost is a part of the compute time, too.
  void AddAboveRoof();
  // Adds the rank that computes longest. If instead one rank has the least time in collectives,
  // names it in the finding about exposed communication.
  void AddStraggler(const RankTable& ranks);
  void AddUnknown(RunFindingKind kind, std::string id, WhyUnknown because);
  [[nodiscard]] std::vector<RunFinding> Take() && { return std::move(findings_); }

 private:
  RunFinding& Add(RunFindingKind kind, std::string id, DurationNs cost);
  void Place(RunFinding& finding, size_t trace, DurationNs cost) {
    if (cost.ns > 0) finding.places.push_back({trace, cost, {}});
  }
  void PlaceByDevices(RunFinding& finding, DurationNs DeviceTime::*time);
  void AddCause(const IdleCauseRow& row);

  const DeviceTotals& totals_;
  const IdleTable& idle_;
  std::vector<TimedTrace> traces_;
  DurationNs whole_;
  bool at_most_ = false, common_clock_ = true;
  std::vector<RunFinding> findings_;
};

Confidence BoundedBy(bool at_least, bool at_most) {
  if (at_least && at_most) return Confidence::kAbout;
  return at_least ? Confidence::kAtLeast : at_most ? Confidence::kAtMost : Confidence::kMeasured;
}

// The word for a rank in ids: "TP3" or "w0-TP3"; "trace4" if the rank has no name of its own.
std::string RankWord(const RankTable& ranks, size_t row) {
  std::string name = ranks.rows[row].identity.RankName();
  const bool shared = std::ranges::any_of(ranks.rows, [&](const RankRow& other) {
    return other.group != ranks.rows[row].group && other.identity.RankName() == name;
  });
  if (name.empty() || shared) return "trace" + std::to_string(row + 1);
  std::ranges::replace(name, ' ', '-');
  return name;
}

RunFinding& DeviceFindings::Add(RunFindingKind kind, std::string id, DurationNs cost) {
  RunFinding& finding = findings_.emplace_back();
  finding.kind = kind;
  finding.id = std::move(id);
  finding.cost = cost;
  finding.of = whole_ < totals_.window ? FindingWhole::kWindowWithRequests : FindingWhole::kWindow;
  finding.whole = whole_;
  finding.confidence = BoundedBy(false, at_most_);
  return finding;
}

void DeviceFindings::AddUnknown(RunFindingKind kind, std::string id, WhyUnknown because) {
  RunFinding& finding = Add(kind, std::move(id), {});
  finding.confidence = Confidence::kCannotTell;
  finding.because = because;
}

void DeviceFindings::PlaceByDevices(RunFinding& finding, DurationNs DeviceTime::*time) {
  for (const TimedTrace& of : traces_) {
    DurationNs sum;
    for (const DeviceTime& device : of.trace->devices) sum += device.*time;
    Place(finding, of.index, sum);
  }
}

bool DeviceFindings::AddIdle(bool refused) {
  if (totals_.window.ns == 0) {
    if (refused) AddUnknown(RunFindingKind::kIdle, "idle", WhyUnknown::kTimesRefused);
    return false;
  }
  if (!totals_.whole || !idle_.known) {
    AddUnknown(RunFindingKind::kIdle, "idle", WhyUnknown::kLostWork);
    return false;
  }
  for (const IdleCauseRow& row : idle_.causes) {
    if (row.cause != IdleCause::kNoRequest && row.total.ns > 0) AddCause(row);
  }
  // Results that were read back from a file may have no causes.
  if (idle_.causes.empty() && totals_.idle.ns > 0)
    AddCause({IdleCause::kUnknown, totals_.idle, 0, {}});
  return whole_.ns > 0;
}

void DeviceFindings::AddCause(const IdleCauseRow& row) {
  RunFinding& finding =
      Add(RunFindingKind::kIdle, "idle." + std::string(IdleCauseId(row.cause)), row.total);
  finding.idle = row.cause;
  finding.call = row.call;
  finding.requests = idle_.requests;
  const bool unknown = row.cause == IdleCause::kUnknown;
  finding.confidence = BoundedBy(!unknown && MuchIsUnknown(idle_), at_most_);
  if (unknown && !common_clock_) finding.because = WhyUnknown::kClocks;
  for (const TimedTrace& of : traces_) {
    const IdleTable& idle = of.trace->idle;
    const auto part = std::ranges::find(idle.causes, row.cause, &IdleCauseRow::cause);
    if (part == idle.causes.end() || part->total.ns <= 0) continue;
    finding.places.push_back({of.index, part->total, {}});
    const auto gap = std::ranges::find(idle.gaps, row.cause, &IdleGap::cause);
    if (gap != idle.gaps.end())
      finding.places.back().gap = static_cast<size_t>(gap - idle.gaps.begin());
  }
}

void DeviceFindings::AddExposed() {
  if (totals_.exposed_comm.ns <= 0) return;
  PlaceByDevices(Add(RunFindingKind::kExposedComm, "comm", totals_.exposed_comm),
                 &DeviceTime::exposed_comm);
}

void DeviceFindings::AddCopies() {
  if (totals_.exposed_copy.ns <= 0) return;
  PlaceByDevices(Add(RunFindingKind::kExposedCopies, "copies", totals_.exposed_copy),
                 &DeviceTime::exposed_copy);
}

void DeviceFindings::AddAboveRoof() {
  DurationNs cost;
  for (const TimedTrace& of : traces_)
    cost += ComputeAboveRoof(of.trace->layers, of.trace->roofline);
  for (const RunFinding& finding : findings_) {
    if (finding.kind == RunFindingKind::kComputes) cost -= finding.cost;
  }
  cost = std::min(cost, totals_.compute);
  if (cost.ns <= 0) return;
  RunFinding& finding = Add(RunFindingKind::kAboveRoof, "above-roof", cost);
  for (const TimedTrace& of : traces_)
    Place(finding, of.index, ComputeAboveRoof(of.trace->layers, of.trace->roofline));
}

void DeviceFindings::AddWaits(const WaitsSplit& split, const RankTable& ranks) {
  for (const WaitsSplit::OfRank& of : split.ranks) {
    if (of.cost.ns <= 0) continue;
    RunFinding& finding =
        Add(RunFindingKind::kWait, "wait." + RankWord(ranks, of.straggler.row), of.cost);
    finding.rank = of.straggler;
    finding.confidence = BoundedBy(!split.exact(), at_most_ || split.overlaps);
    Place(finding, ranks.rows[of.straggler.row].input, of.cost);
  }
  if (split.skew.ns > 0) {
    RunFinding& finding = Add(RunFindingKind::kSkew, "wait.others", split.skew);
    finding.confidence =
        BoundedBy(!split.exact(), at_most_ || (split.overlaps && !split.ranks.empty()));
    // If some waits are charged to a rank, it is not known in which traces the rest of them lies.
    if (split.ranks.empty()) {
      for (const WaitsSplit::OfTrace& of : split.traces) Place(finding, of.trace, of.waits);
    }
  }
  if (split.transfer.ns <= 0) return;
  RunFinding& finding = Add(RunFindingKind::kTransfer, "transfer", split.transfer);
  finding.confidence = BoundedBy(false, !split.exact() || at_most_);
  for (const WaitsSplit::OfTrace& of : split.traces) Place(finding, of.trace, of.transfer);
}

void DeviceFindings::AddStraggler(const RankTable& ranks) {
  for (const Straggler& found : FindStragglers(ranks)) {
    if (found.sign == Straggler::Sign::kLeastCollectives) {
      const auto comm =
          std::ranges::find(findings_, RunFindingKind::kExposedComm, &RunFinding::kind);
      if (comm != findings_.end()) comm->rank = found;
    }
    if (found.sign != Straggler::Sign::kComputesLongest) continue;
    const DurationNs cost = std::min(found.time - found.others, totals_.compute);
    if (cost.ns <= 0) continue;
    RunFinding& finding =
        Add(RunFindingKind::kComputes, "compute." + RankWord(ranks, found.row), cost);
    finding.rank = found;
    finding.confidence = Confidence::kMeasured;
    Place(finding, ranks.rows[found.row].input, cost);
  }
}

// Adds the findings of requests, and sorts: highest share first; in a finding, the place with the
// highest cost first.
std::vector<RunFinding> Ranked(std::vector<RunFinding> findings, const RequestAnalysis& requests) {
  std::ranges::move(RequestFindings(requests), std::back_inserter(findings));
  for (RunFinding& finding : findings)
    std::ranges::stable_sort(finding.places, std::ranges::greater{}, &RunFinding::Place::cost);
  std::ranges::sort(findings, [](const RunFinding& a, const RunFinding& b) {
    return std::tuple(!a.known(), -a.share(), -a.cost, std::string_view(a.id)) <
           std::tuple(!b.known(), -b.share(), -b.cost, std::string_view(b.id));
  });
  return findings;
}

bool HasRefusedTimes(const std::vector<const TraceAnalysis*>& ranks) {
  return std::ranges::any_of(
      ranks, [](const TraceAnalysis* trace) { return !trace->integrity.device_times(); });
}

}  // namespace

std::vector<RunFinding> FindingsOf(const RunAnalysis& run) {
  const RunTotals totals = TotalsOf(run);
  std::vector<TimedTrace> traces;
  for (const TraceAnalysis* trace : TimedRanksOf(run)) {
    if (!IsSliceTogether(run, trace->path))
      traces.push_back({static_cast<size_t>(trace - run.traces.data()), trace});
  }
  DeviceFindings devices(totals.devices, totals.idle, std::move(traces));
  if (devices.AddIdle(HasRefusedTimes(RanksOf(run)))) {
    const WaitsOfRun waits = SplitWaits(run, totals.devices.exposed_comm);
    if (waits.split)
      devices.AddWaits(*waits.split, run.ranks);
    else
      devices.AddExposed();
    devices.AddStraggler(run.ranks);
    devices.AddAboveRoof();
    devices.AddCopies();
    if (waits.because != WhyUnknown::kNothing)
      devices.AddUnknown(RunFindingKind::kWait, "wait", waits.because);
  }
  return Ranked(std::move(devices).Take(), run.requests);
}

std::vector<RunFinding> FindingsOf(const TraceAnalysis& trace, const RequestAnalysis& requests) {
  const DeviceTotals totals = TotalsOf(trace.devices);
  DeviceFindings devices(totals, trace.idle, {{0, &trace}});
  if (devices.AddIdle(HasRefusedTimes({&trace}))) {
    devices.AddExposed();
    devices.AddAboveRoof();
    devices.AddCopies();
  }
  return Ranked(std::move(devices).Take(), requests);
}

}  // namespace tacho

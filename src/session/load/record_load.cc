#include "session/load/record_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "session/http/flush_progress.h"

namespace tacho {
namespace {

// How long before the window's end a load may end without a report: a window by HTTP ends up to one
// polling interval after its load.
constexpr int64_t kIdleToReport = 1'000'000'000;

// Whether the load goes to the router. An empty URL means that there is no router.
bool Reaches(const std::vector<DriveTarget>& targets, const std::string& router_url) {
  return !router_url.empty() &&
         std::ranges::find(targets, router_url, &DriveTarget::url) != targets.end();
}

}  // namespace

Result<void> RecordLoad::Begin() {
  if (!options_.load) return {};
  if (const std::optional<GivenLoad>& given = options_.given_load) {
    recording_.plan = given->plan;
    recording_.plan->through_router = Reaches(given->targets, recording_.deployment.router_url);
    load_ =
        std::make_unique<BackgroundLoad>(client_, *recording_.plan, given->targets, given->drive);
    return {};
  }
  std::vector<Finding> findings;
  auto targets = TargetsOf(client_, options_, recording_.deployment, recording_.workers, findings);
  auto plan = PlanOf(options_, recording_.workers, findings);
  for (Finding& finding : findings) ReportFinding(recording_, observer_, std::move(finding));
  if (!targets) return tl::unexpected(targets.error());
  TACHO_ASSIGN_OR_RETURN(recording_.plan, std::move(plan));
  recording_.plan->through_router = Reaches(*targets, recording_.deployment.router_url);
  for (const DriveTarget& target : *targets) targets_.push_back(target.url);
  load_ = std::make_unique<BackgroundLoad>(client_, *recording_.plan, *std::move(targets));
  return {};
}

bool RecordLoad::HasEnded() const {
  return load_ ? load_->ended() : options_.load;  // requested, but it could not begin
}

bool RecordLoad::GaveUp() {
  const bool ended = HasEnded();
  gave_up_ = gave_up_ || (ended && load_ != nullptr);
  return ended;
}

uint64_t RecordLoad::RequestsEnded() const {
  return load_ ? load_->progress().done + load_->progress().failed : 0;
}

RecordLoad::Answers RecordLoad::AnswersOf(const std::string& url) const {
  if (!load_ || load_->progress().targets.empty()) return {};
  const auto found = std::ranges::find(targets_, url);
  const TargetProgress& target =
      load_->progress()
          .targets[found == targets_.end() ? 0 : static_cast<size_t>(found - targets_.begin())];
  return {target.last_token_ns, target.failures_in_row,
          options_.plan.rate.has_value() && target.running == 0, target.running};
}

bool RecordLoad::AllFail() const {
  if (!load_) return false;
  const DriveProgress& progress = load_->progress();
  return progress.done == 0 && progress.output_tokens == 0 &&
         progress.failed >= std::max(kFewestFailures, progress.running.load() + 1);
}

std::string RecordLoad::ProgressText() const {
  if (!load_) return "";
  const DriveProgress& progress = load_->progress();
  return fmt::format(" · {} running, {} done, {} failed, {} tokens", progress.running.load(),
                     progress.done.load(), progress.failed.load(), progress.output_tokens.load());
}

void RecordLoad::Cancel() {
  if (load_) load_->Cancel();
}

Result<void> RecordLoad::End(int64_t interrupted_ns) {
  if (!load_) return {};
  // It is no trouble that we end the load here, but it is one if the load gave up before.
  const bool by_itself = gave_up_;
  Result<LoadRecords> records = load_->Finish();
  load_.reset();
  TACHO_ASSIGN_OR_RETURN(recording_.load, std::move(records));
  LoadWindow& profiled = recording_.profiled;
  const int64_t idle_ns = profiled.end_ns - recording_.load->ended_ns;
  // A daemon's window goes on after Ctrl-C has ended the load, so its measured part ends at Ctrl-C.
  if (interrupted_ns != 0)
    profiled.end_ns =
        std::clamp(interrupted_ns, profiled.begin_ns, std::max(profiled.begin_ns, profiled.end_ns));
  else if (idle_ns > kIdleToReport)
    ReportFinding(
        recording_, observer_,
        {FindingId::kLoadEndedEarly, "",
         fmt::format("the load ended {} before the window did", SecondsText(idle_ns)),
         // The load that tacho itself plans has no end, so it must have given up.
         options_.given_load ? "" : "check that the servers answer requests: tacho load URL"});
  for (LoadWindow* window : {&recording_.baseline, &profiled})
    if (window->end_ns > window->begin_ns)
      *window = MeasureWindow(*recording_.load, window->begin_ns, window->end_ns);
  if (recording_.overhead) MeasureOverhead(*recording_.load, *recording_.overhead);
  if (by_itself && !recording_.load->ended_early.empty())
    recording_.findings.push_back({FindingId::kLoadGaveUp, "load", recording_.load->ended_early});
  NameFailures();
  return {};
}

std::string RecordLoad::FirstError() const {
  if (!recording_.load) return "";
  const auto failed = std::ranges::find_if(recording_.load->requests, [](const auto& request) {
    return request.status == RequestStatus::kFailed || request.status == RequestStatus::kPartial;
  });
  return failed == recording_.load->requests.end() ? "" : failed->error;
}

// Reports, with the first error, how many requests failed, or broke off in their answers, before
// tacho ended the load.
void RecordLoad::NameFailures() {
  uint64_t failed = 0, done = 0, in_flight = 0;
  std::string first;
  for (const RequestRecord& request : recording_.load->requests) {
    done += request.status == RequestStatus::kDone;
    in_flight += request.status == RequestStatus::kCancelled && request.output_tokens > 0;
    if (request.status != RequestStatus::kFailed && request.status != RequestStatus::kPartial)
      continue;
    if (failed++ == 0) first = request.error;
  }
  if (failed == 0) return;
  Finding finding{FindingId::kRequestsFailed, "load",
                  fmt::format("{} of {} requests failed: {}", failed, failed + done, first)};
  if (failed <= done + in_flight) return ReportFinding(recording_, observer_, std::move(finding));
  // That most requests failed is not bad luck: a server died under the load. Requests that had
  // given tokens when tacho ended the load count as good.
  finding.id = FindingId::kMostRequestsFailed;
  recording_.findings.push_back(std::move(finding));
}

}  // namespace tacho

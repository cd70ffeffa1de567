#include "analysis/requests/request_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "analysis/device/kernels.h"

namespace tacho {
namespace {

constexpr std::array<std::string_view, kRequestParts> kPartIds = {
    "client", "network", "queue",         "prefill",   "wait-prefill",        "decode", "comm",
    "skew",   "host",    "between-steps", "preempted", "detokenise-and-send", "unknown"};

constexpr double kNearBatch = 2;  // DecodeStep: how much larger or smaller a batch may be

// The part that idle time of this cause counts as. `device`: the part of the step's compute.
RequestPart WhoseIdle(IdleCause cause, RequestPart device) {
  switch (cause) {
    case IdleCause::kHostLate:
    case IdleCause::kInLaunchCall:
    case IdleCause::kHost:
    case IdleCause::kInOperator:
    case IdleCause::kProfiler:
      return RequestPart::kHost;
    case IdleCause::kBetweenSteps:
    case IdleCause::kNoRequest:
      return RequestPart::kBetweenSteps;
    case IdleCause::kUnknown:
      return RequestPart::kUnknown;
    default:  // the device waits for itself
      return device;
  }
}

RequestParts OnePart(RequestPart part, DurationNs length) {
  RequestParts parts;
  parts[part] = length;
  return parts;
}

}  // namespace

std::string_view RequestPartId(RequestPart part) { return kPartIds.at(static_cast<size_t>(part)); }

DurationNs RequestParts::Sum() const {
  DurationNs sum;
  for (const DurationNs part : ns) sum += part;
  return sum;
}

void RequestParts::Add(const RequestParts& more) {
  for (size_t i = 0; i < ns.size(); ++i) ns[i] += more.ns[i];
}

RequestParts RequestParts::ScaledTo(DurationNs sum) const {
  const DurationNs whole = Sum();
  if (sum >= whole) return *this;
  RequestParts scaled;
  // Rounds the running sum after each part, so that the parts add up to `sum` exactly.
  DurationNs before, scaled_before;
  __extension__ typedef __int128 Wide;
  for (size_t i = 0; i < ns.size(); ++i) {
    before += ns[i];
    const DurationNs until{static_cast<int64_t>(static_cast<Wide>(before.ns) * sum.ns / whole.ns)};
    scaled.ns[i] = until - scaled_before;
    scaled_before = until;
  }
  return scaled;
}

RequestParts CommonOf(std::span<const RequestParts> fits) {
  if (fits.empty()) return {};
  RequestParts common = fits.front();
  for (const RequestParts& fit : fits) {
    for (size_t i = 0; i < kRequestParts; ++i) common.ns[i] = std::min(common.ns[i], fit.ns[i]);
  }
  common[RequestPart::kUnknown] += fits.front().Sum() - common.Sum();
  return common;
}

RequestFit::RequestFit(uint32_t first_read, std::vector<uint32_t> steps,
                       std::vector<uint32_t> unsure)
    : first_read_(first_read), steps_(std::move(steps)), unsure_(std::move(unsure)) {
  for (const uint32_t step : steps_) {
    if (step != kNoStep) made_.push_back(step);
  }
}
bool RequestFit::Makes(uint32_t step) const { return std::ranges::binary_search(made_, step); }
bool RequestFit::IsUnsure(uint32_t step) const { return std::ranges::binary_search(unsure_, step); }

// Splits an interval of time into parts, stretch by stretch from its start to its end.
class RequestSplitter::Path {
 public:
  explicit Path(Interval whole) : at_(whole.start), end_(whole.end) {}

  // Counts the time up to the end of `when` as `parts`. Leaves out time outside of the whole
  // interval and time counted before, and scales `parts` down accordingly. A gap before `when`
  // counts as unknown.
  void Spend(Interval when, const RequestParts& parts) {
    SpendAll(when.start, RequestPart::kUnknown);
    const TimeNs until = std::min(when.end, end_);
    if (until <= at_) return;
    parts_.Add(parts.ScaledTo(until - at_));
    at_ = until;
  }
  void SpendAll(TimeNs until, RequestPart part) {
    until = std::min(until, end_);
    if (until <= at_) return;
    parts_[part] += until - at_;
    at_ = until;
  }
  RequestParts Finish() {
    SpendAll(end_, RequestPart::kUnknown);
    return parts_;
  }

 private:
  TimeNs at_, end_;
  RequestParts parts_;
};

RequestSplitter::RequestSplitter(const std::vector<DigestStep>& steps, const StepCells& cells,
                                 DurationNs clock_error, const std::vector<DurationNs>& skew)
    : steps_(steps), cells_(cells), clock_error_(clock_error), skew_(skew) {
  std::vector<int64_t> pauses;
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepLabel& label = steps[i].label;
    const Interval work = cells.steps[i].work;
    if (label.phase == Phase::kDecode && label.generation_requests > 0 && cells.steps[i].known &&
        !work.empty())
      decode_[label.generation_requests].push_back(work.length().ns);
    if (i > 0) pauses.push_back(cells.TimeBefore(i).length().ns);
  }
  usual_pause_ = Summarize(pauses).p50;
}

std::optional<DurationNs> RequestSplitter::DecodeStep(int64_t requests) const {
  if (requests <= 0) return std::nullopt;
  // The batch size with the nearest ratio; if two are equally near, the smaller one.
  const auto distance = [&](int64_t other) {
    return std::abs(std::log(static_cast<double>(other) / static_cast<double>(requests)));
  };
  const auto above = decode_.lower_bound(requests);
  auto nearest = above;
  if (above != decode_.begin()) {
    const auto below = std::prev(above);
    if (above == decode_.end() || distance(below->first) <= distance(above->first)) nearest = below;
  }
  if (nearest == decode_.end() || distance(nearest->first) > std::log(kNearBatch) + 1e-9)
    return std::nullopt;
  std::vector<int64_t> lengths = nearest->second;
  return Summarize(lengths).p50;
}

void RequestSplitter::AddFirstStep(TimeNs sent, uint32_t first_read) {
  const DurationNs until = std::max(DurationNs{}, cells_.steps[first_read].work.start - sent);
  least_until_first_ = std::min(least_until_first_.value_or(until), until);
}

RequestSplitter::Role RequestSplitter::RoleIn(const RequestFit& fit, uint32_t step) const {
  const bool reads = steps_[step].label.context_requests != 0;
  if (reads && fit.first_read() != RequestFit::kNoStep && step >= fit.first_read() &&
      step <= fit.steps().front())
    return Role::kReadsPrompt;
  return fit.Makes(step) ? Role::kMakesToken : Role::kOther;
}

RequestParts RequestSplitter::OfCell(size_t number, DurationNs length, Role role) const {
  const StepCell& cell = cells_.cells[number];
  const RequestPart device =
      role == Role::kReadsPrompt ? RequestPart::kPrefill : RequestPart::kDecode;
  RequestParts parts;
  if (!skew_.empty()) parts[RequestPart::kSkew] = skew_[number];
  parts[RequestPart::kComm] = cell.comm - parts[RequestPart::kSkew];
  for (size_t i = 0; i < cell.idle.size(); ++i)
    parts[WhoseIdle(static_cast<IdleCause>(i), device)] += cell.idle[i];
  // The rest is compute. If it is negative, the trace contradicts itself.
  const DurationNs rest = length - parts.Sum();
  if (rest < DurationNs{}) return OnePart(RequestPart::kUnknown, length);
  parts[device] += rest;
  return parts;
}

RequestParts RequestSplitter::OfStep(uint32_t step, Role role) const {
  const DurationNs length = cells_.steps[step].work.length();
  const StepLabel& label = steps_[step].label;
  if (role == Role::kOther) {
    if (label.context_requests < 0) return OnePart(RequestPart::kUnknown, length);
    return OnePart(label.context_requests > 0 ? RequestPart::kWaitPrefill : RequestPart::kPreempted,
                   length);
  }
  if (!cells_.steps[step].known) return OnePart(RequestPart::kUnknown, length);
  DurationNs wait;
  if (role == Role::kMakesToken && label.context_requests != 0) {
    const std::optional<DurationNs> alone =
        label.context_requests > 0 ? DecodeStep(label.generation_requests) : std::nullopt;
    if (!alone) return OnePart(RequestPart::kUnknown, length);
    wait = std::max(DurationNs{}, length - *alone);
  }
  const RequestParts own = cells_.HasCells() ? OfCell(2 * size_t{step} + 1, length, role)
                                             : OnePart(RequestPart::kUnknown, length);
  RequestParts parts = own.ScaledTo(length - wait);
  parts[RequestPart::kWaitPrefill] += wait;
  return parts;
}

RequestParts RequestSplitter::OfTimeBefore(uint32_t step, Role role) const {
  const DurationNs length = cells_.TimeBefore(step).length();
  if (!cells_.HasCells() || !cells_.steps[step].known ||
      (step > 0 && !cells_.steps[step - 1].known))
    return OnePart(RequestPart::kUnknown, length);
  RequestParts parts = OfCell(2 * size_t{step}, length, role);
  if (role != Role::kOther) return parts;
  // The request waited for a step that it was not in. Without this step there would also have been
  // one pause between steps less. So the step is charged with one pause of the usual length; the
  // rest of a longer pause has another cause.
  const RequestPart of_step =
      steps_[step].label.context_requests > 0 ? RequestPart::kWaitPrefill : RequestPart::kPreempted;
  for (const RequestPart part :
       {RequestPart::kDecode, RequestPart::kComm, RequestPart::kSkew, RequestPart::kHost})
    parts[of_step] += std::exchange(parts[part], DurationNs{});
  const DurationNs usual = std::min(parts[RequestPart::kBetweenSteps], usual_pause_);
  parts[RequestPart::kBetweenSteps] -= usual;
  parts[of_step] += usual;
  return parts;
}

RequestParts RequestSplitter::InFit(const RequestFit& fit, uint32_t step, bool before) const {
  const auto of = [&](Role role) { return before ? OfTimeBefore(step, role) : OfStep(step, role); };
  const Role role = RoleIn(fit, step);
  if (role == Role::kReadsPrompt || !fit.IsUnsure(step)) return of(role);
  return CommonOf(std::array{of(Role::kMakesToken), of(Role::kOther)});
}

void RequestSplitter::AddSteps(const RequestFit& fit, uint32_t from, uint32_t last, bool whole,
                               Path& path) const {
  for (uint32_t step = from; step <= last; ++step) {
    if (whole || step > from) path.Spend(cells_.TimeBefore(step), InFit(fit, step, true));
    path.Spend(cells_.steps[step].work, InFit(fit, step, false));
  }
}

void RequestSplitter::AddSend(uint32_t last, TimeNs seen, Path& path) const {
  const StepCells::Step& step = cells_.steps[last];
  const bool is_claimed = step.known && seen - step.work.end > clock_error_;
  path.SpendAll(seen, is_claimed ? RequestPart::kSend : RequestPart::kUnknown);
}

namespace {

// The index, among the request's tokens, of the last token of a chunk.
size_t LastTokenOf(const RequestTimes& times, size_t chunk) {
  size_t tokens = 0;
  for (size_t i = 0; i <= chunk; ++i) tokens += times.chunks[i].tokens;
  return std::max<size_t>(tokens, 1) - 1;
}

}  // namespace

RequestParts RequestSplitter::UntilChunk(const RequestTimes& times, const RequestFit& fit,
                                         size_t chunk) const {
  const TimeNs seen = times.chunks[chunk].seen;
  Path path({times.due, seen});
  path.SpendAll(times.sent, RequestPart::kClient);
  const std::vector<uint32_t>& steps = fit.steps();
  const auto is_known = [](uint32_t step) { return step != RequestFit::kNoStep; };
  const size_t token = LastTokenOf(times, chunk);
  const auto end = steps.begin() + static_cast<ptrdiff_t>(std::min(token + 1, steps.size()));
  const auto first = std::find_if(steps.begin(), end, is_known);
  if (first == end) return path.Finish();
  uint32_t from = *first;
  if (first == steps.begin() && fit.first_read() != RequestFit::kNoStep) {
    from = fit.first_read();
    const TimeNs begins = cells_.steps[from].work.start;
    const DurationNs least = least_until_first_.value_or(DurationNs{});
    path.SpendAll(std::min(begins, times.sent + least),
                  least > clock_error_ ? RequestPart::kNetwork : RequestPart::kUnknown);
    path.SpendAll(begins, RequestPart::kQueue);
  }
  auto last = end;
  while (!is_known(*--last)) {
  }
  AddSteps(fit, from, *last, false, path);
  if (token < steps.size() && is_known(steps[token])) AddSend(*last, seen, path);
  return path.Finish();
}

RequestParts RequestSplitter::Gap(const RequestTimes& times, const RequestFit& fit,
                                  size_t chunk) const {
  const TimeNs seen = times.chunks[chunk].seen;
  Path path({times.chunks[chunk - 1].seen, seen});
  const size_t before = LastTokenOf(times, chunk - 1), token = LastTokenOf(times, chunk);
  const std::vector<uint32_t>& steps = fit.steps();
  if (token >= steps.size() || steps[token] == RequestFit::kNoStep ||
      steps[before] == RequestFit::kNoStep)
    return path.Finish();
  path.SpendAll(cells_.steps[steps[before]].work.end, RequestPart::kUnknown);
  AddSteps(fit, steps[before] + 1, steps[token], true, path);
  AddSend(steps[token], seen, path);
  return path.Finish();
}

DurationNs RequestSplitter::Outside(const RequestTimes& times, const RequestFit& fit) const {
  DurationNs outside;
  if (fit.first_read() == RequestFit::kNoStep)
    outside = std::max(outside, cells_.steps.front().work.start - std::max(times.due, times.sent));
  if (fit.steps().back() == RequestFit::kNoStep)
    outside += std::max(DurationNs{}, times.chunks.back().seen - cells_.steps.back().work.end);
  return outside;
}

bool RequestSplitter::Contradicts(const RequestTimes& times, const RequestFit& fit) const {
  if (fit.first_read() != RequestFit::kNoStep &&
      times.sent - cells_.steps[fit.first_read()].work.start > clock_error_)
    return true;
  size_t token = 0;
  for (const RequestTimes::Chunk& chunk : times.chunks) {
    token += chunk.tokens;
    if (token == 0 || token > fit.steps().size()) continue;
    const uint32_t made_by = fit.steps()[token - 1];
    if (made_by == RequestFit::kNoStep) continue;
    if (!cells_.steps[made_by].known) continue;
    // Short work may follow the copy of the tokens, so they may be out before the work's end.
    const DigestStep& step = steps_[made_by];
    TimeNs made = cells_.steps[made_by].work.end;
    if (!step.device.empty()) made = std::min(made, step.device.start + step.device_busy);
    if (made - chunk.seen > clock_error_) return true;
  }
  return false;
}

}  // namespace tacho

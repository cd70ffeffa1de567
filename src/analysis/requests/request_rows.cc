#include "analysis/requests/request_rows.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace tacho {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(RequestLacks::kCount)> kLacksIds = {
    "", "tokens", "tie", "recorded", "clock"};

// When the request was due or, if its record does not say, when it was handed over or sent.
TimeNs DueOf(const Request& request) {
  return request.due.value_or(request.handed.value_or(*request.sent));
}
// When the request ended: its last token if it is whole. Absent if no end is known.
std::optional<TimeNs> EndOf(const Request& request) {
  if (request.whole && request.last_token) return request.last_token;
  return request.ended ? request.ended : request.last_token;
}

// Whether it is known for each token which step made it.
bool IsTied(const JoinedRequest& request) {
  return std::ranges::all_of(request.tokens,
                             [](const TokenSeat& seat) { return seat.fit == Fit::kTied; });
}

// Splits the requests of all engines, and keeps what that needs from each engine.
class SplitRun {
 public:
  explicit SplitRun(const RequestInput& input)
      : table_(*input.table), join_(*input.join), input_(input), reads_(table_.rows.size()) {
    for (uint32_t engine = 0; engine < join_.engines.size(); ++engine) Add(engine);
  }

  [[nodiscard]] RequestRow RowOf(size_t number) const;
  // The row of a request as far as it is known without the steps: its time is client or unknown.
  [[nodiscard]] RequestRow WithoutSteps(size_t number) const;
  void Refuse(uint32_t engine) { engines_[engine].splitter.reset(); }
  [[nodiscard]] std::optional<RequestDetail> DetailOf(size_t number) const;
  // The largest error among the engines.
  [[nodiscard]] std::optional<DurationNs> clock_error() const {
    std::optional<DurationNs> most;
    for (const Engine& engine : engines_) {
      if (engine.splitter) most = std::max(most.value_or(DurationNs{}), engine.clock_error);
    }
    return most;
  }

 private:
  struct Engine {
    const TraceDigest* digest = nullptr;
    DurationNs to_steps;  // add it to a time of the client's clock to get one of the steps' clock
    DurationNs clock_error;
    std::unique_ptr<RequestSplitter> splitter;  // null: its requests cannot be split
  };

  void Add(uint32_t number);
  void FindReads(uint32_t number);
  void NarrowClock(uint32_t number);
  // Whether a request did not queue: the first step that began after the request was sent reads its
  // prompt, or the second one does, because the engine may plan one step ahead. False if the prompt
  // is read by the first step of the recording, because earlier steps are not known.
  [[nodiscard]] static bool IsReadAtOnce(const Engine& engine, TimeNs sent, uint32_t first_read) {
    const std::vector<StepCells::Step>& cells = engine.digest->cells.steps;
    return first_read > 0 && cells[std::max(first_read, 2U) - 2].work.start <= sent;
  }
  [[nodiscard]] const Engine* EngineOfRequest(size_t number) const {
    const uint32_t engine = join_.requests[number].engine;
    if (engine >= engines_.size() || !engines_[engine].splitter) return nullptr;
    return &engines_[engine];
  }
  // The first and the last step of the digest that may have made a token; nullopt: no known step.
  struct Seat {
    uint32_t first = 0, last = 0;
  };
  [[nodiscard]] std::optional<Seat> SeatOf(size_t number, size_t token) const {
    const JoinedRequest& joined = join_.requests[number];
    if (token >= joined.tokens.size()) return std::nullopt;
    const TokenSeat& seat = joined.tokens[token];
    if ((seat.fit != Fit::kTied && seat.fit != Fit::kOneOf) || seat.or_outside) return std::nullopt;
    const std::vector<EngineStep>& steps = join_.engines[joined.engine].steps;
    return Seat{steps[seat.first].digest_step, steps[seat.last].digest_step};
  }
  [[nodiscard]] RequestTimes TimesOf(size_t number, const Engine& engine) const;
  // Up to three possible assignments of the request to steps, those that differ most from each
  // other.
  [[nodiscard]] std::vector<RequestFit> FitsOf(size_t number, size_t tokens) const;

  const RequestTable& table_;
  const RequestJoin& join_;
  const RequestInput& input_;
  std::vector<Engine> engines_;
  std::vector<std::optional<PromptReads>> reads_;  // by request; nullopt: unknown
};

void SplitRun::Add(uint32_t number) {
  const JoinEngine& joined = join_.engines[number];
  Engine& engine = engines_.emplace_back();
  const JoinWhy why = join_.engine_why[number];
  if (why != JoinWhy::kJoined && why != JoinWhy::kOthers) return;
  engine.digest = joined.trace < input_.digests.size() ? input_.digests[joined.trace] : nullptr;
  if (engine.digest == nullptr || engine.digest->cells.steps.empty() || joined.steps.empty())
    return;
  const EngineStep& step = joined.steps.front();
  engine.to_steps = engine.digest->steps[step.digest_step].when.start - step.when.start;
  engine.clock_error = joined.clock_error.value_or(DurationNs{});
  FindReads(number);
  NarrowClock(number);
  FindReads(number);  // again: with a narrower clock, fewer steps may have read a prompt
  engine.splitter = std::make_unique<RequestSplitter>(
      engine.digest->steps, engine.digest->cells, engine.clock_error,
      input_.skew == nullptr ? std::vector<DurationNs>{} : (*input_.skew)[joined.trace]);
  for (size_t i = 0; i < table_.rows.size(); ++i) {
    if (join_.requests[i].engine != number || !reads_[i] || !reads_[i]->exact()) continue;
    const TimeNs sent = *table_.rows[i].sent + engine.to_steps;
    if (IsReadAtOnce(engine, sent, reads_[i]->first_at_most))
      engine.splitter->AddFirstStep(sent, reads_[i]->first_at_most);
  }
}

void SplitRun::FindReads(uint32_t number) {
  const Engine& engine = engines_[number];
  const std::vector<StepCells::Step>& cells = engine.digest->cells.steps;
  std::vector<StepLabel> labels;
  for (const DigestStep& step : engine.digest->steps) labels.push_back(step.label);
  std::vector<PromptToRead> prompts;
  std::vector<uint32_t> earliest;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < table_.rows.size(); ++i) {
    const Request& request = table_.rows[i];
    if (join_.requests[i].engine != number || !request.sent) continue;
    const std::optional<Seat> first = SeatOf(i, 0);
    if (!first) continue;
    // The first step whose work can have begun after the request was sent.
    const TimeNs sent = *request.sent + engine.to_steps - engine.clock_error;
    const auto begins = std::ranges::lower_bound(
        cells, sent, {}, [](const StepCells::Step& step) { return step.work.start; });
    const auto least = std::min(first->first, static_cast<uint32_t>(begins - cells.begin()));
    reads_[i] = PromptReads{least, first->first};
    if (first->first != first->last) continue;
    prompts.push_back({first->first, {}});
    if (request.prompt_tokens)
      prompts.back().tokens =
          std::max<int64_t>(1, *request.prompt_tokens - request.cached_tokens.value_or(0));
    earliest.push_back(least);
    numbers.push_back(i);
  }
  const std::vector<PromptReads> found = FindPromptReads(labels, prompts, earliest);
  for (size_t i = 0; i < numbers.size(); ++i) reads_[numbers[i]] = found[i];
}

// Narrows the shift between the client's clock and that of the steps. No prompt is read before its
// request was sent, and no token is seen before it was made. These two facts give the least and the
// most by which the shift may change. Takes the middle between them; its error is at most half
// their distance.
void SplitRun::NarrowClock(uint32_t number) {
  Engine& engine = engines_[number];
  DurationNs least = -engine.clock_error, most = engine.clock_error;
  for (size_t i = 0; i < table_.rows.size(); ++i) {
    // A request that fits in several ways may have a token at a wrong step.
    if (join_.requests[i].engine != number || !IsTied(join_.requests[i])) continue;
    const Request& request = table_.rows[i];
    const std::vector<StepCells::Step>& cells = engine.digest->cells.steps;
    if (reads_[i] && cells[reads_[i]->first_at_most].known)
      most = std::min(
          most, cells[reads_[i]->first_at_most].work.start - (*request.sent + engine.to_steps));
    size_t token = 0;
    for (size_t c = request.first_chunk; c < request.end_chunk; ++c) {
      token += table_.chunks[c].tokens;
      if (token == 0 || !SeatOf(i, token - 1)) continue;
      const uint32_t step = join_.requests[i].tokens[token - 1].first;
      least = std::max(least, join_.engines[number].steps[step].made - table_.chunks[c].at);
    }
  }
  if (least > most) return;  // a contradiction, which RowOf finds for each request by itself
  engine.to_steps += DurationNs{least.ns + (most - least).ns / 2};
  engine.clock_error = {((most - least).ns + 1) / 2};
}

RequestTimes SplitRun::TimesOf(size_t number, const Engine& engine) const {
  const Request& request = table_.rows[number];
  RequestTimes times{DueOf(request) + engine.to_steps, *request.sent + engine.to_steps, {}};
  for (size_t i = request.first_chunk; i < request.end_chunk; ++i) {
    if (table_.chunks[i].tokens > 0)
      times.chunks.push_back({table_.chunks[i].at + engine.to_steps, table_.chunks[i].tokens});
  }
  return times;
}

std::vector<RequestFit> SplitRun::FitsOf(size_t number, size_t tokens) const {
  std::vector<uint32_t> early(tokens, RequestFit::kNoStep), late = early, unsure;
  uint32_t before = 0, from = 0;  // `from`: the first step after those of the known tokens so far
  bool hole = false;
  for (size_t i = 0; i < tokens; ++i) {
    const std::optional<Seat> seat = SeatOf(number, i);
    if (!seat) {
      hole = i > 0;
      continue;
    }
    before = std::max(before, seat->first);
    early[i] = before;
    late[i] = std::max(before, seat->last);
    const uint32_t first_unsure = hole ? from : seat->first;
    if (hole || seat->first != seat->last) {
      for (uint32_t step = std::max(first_unsure, from); step <= late[i]; ++step)
        unsure.push_back(step);
    }
    hole = false;
    from = std::max(from, late[i] + 1);
  }
  for (size_t i = tokens; i-- > 1;) {
    if (late[i] != RequestFit::kNoStep && late[i - 1] != RequestFit::kNoStep)
      late[i - 1] = std::min(late[i - 1], late[i]);
  }
  const std::optional<PromptReads>& reads = reads_[number];
  const bool begins = reads && early[0] != RequestFit::kNoStep;
  const uint32_t at_least = begins ? reads->first_at_least : RequestFit::kNoStep;
  const bool one = early == late;
  std::vector<RequestFit> fits;
  fits.emplace_back(!begins ? RequestFit::kNoStep
                    : one   ? reads->first_at_most
                            : early[0],
                    early, unsure);
  if (!one) fits.emplace_back(begins ? late[0] : RequestFit::kNoStep, late, unsure);
  if (begins && at_least < fits.front().first_read()) fits.emplace_back(at_least, early, unsure);
  return fits;
}

RequestRow SplitRun::WithoutSteps(size_t number) const {
  const Request& request = table_.rows[number];
  const JoinedRequest& joined = join_.requests[number];
  RequestRow row;
  row.number = number;
  row.id = request.id;
  row.scenario = request.scenario;
  row.whole = request.whole;
  row.cancelled = request.cancelled;
  row.prompt_tokens = request.prompt_tokens;
  for (size_t i = request.first_chunk; i < request.end_chunk; ++i)
    row.tokens += table_.chunks[i].tokens;
  if (joined.engine < input_.engine_names.size()) {
    row.worker = input_.engine_names[joined.engine];
  } else if (request.worker < table_.workers.size()) {
    row.worker = table_.workers[request.worker].name;
  }
  const TimeNs due = DueOf(request);
  row.e2e = std::max(DurationNs{}, *EndOf(request) - due);
  const auto without_steps = [&](DurationNs length) {
    RequestParts parts;
    parts[RequestPart::kClient] = std::clamp(*request.sent - due, DurationNs{}, length);
    parts[RequestPart::kUnknown] = length - parts[RequestPart::kClient];
    return parts;
  };
  row.parts = without_steps(row.e2e);
  if (request.first_token) {
    row.ttft = std::max(DurationNs{}, *request.first_token - due);
    row.ttft_parts = without_steps(*row.ttft);
  }
  row.lacks = row.tokens == 0 ? RequestLacks::kTokens : RequestLacks::kTie;
  return row;
}

RequestRow SplitRun::RowOf(size_t number) const {
  const JoinedRequest& joined = join_.requests[number];
  RequestRow row = WithoutSteps(number);
  const Engine* engine = EngineOfRequest(number);
  if (row.tokens == 0) return row;
  if (!joined.tokens.empty() && std::ranges::all_of(joined.tokens, [](const TokenSeat& seat) {
        return seat.fit == Fit::kOutside;
      })) {
    row.lacks = RequestLacks::kRecorded;
    return row;
  }
  if (engine == nullptr) return row;

  const RequestTimes times = TimesOf(number, *engine);
  const std::vector<RequestFit> fits = FitsOf(number, joined.tokens.size());
  if (std::ranges::all_of(fits.front().steps(),
                          [](uint32_t step) { return step == RequestFit::kNoStep; }))
    return row;
  const bool is_one = fits.size() == 1;
  // The truth lies between the fits, so all are kept unless each of them contradicts the clock.
  const bool contradicts = std::ranges::all_of(
      fits, [&](const RequestFit& fit) { return engine->splitter->Contradicts(times, fit); });
  row.lacks = contradicts ? RequestLacks::kClock : RequestLacks::kNothing;
  if (contradicts) return row;
  std::vector<RequestParts> whole, first;
  for (const RequestFit& fit : fits) {
    whole.push_back(engine->splitter->UntilChunk(times, fit, times.chunks.size() - 1));
    first.push_back(engine->splitter->UntilChunk(times, fit, 0));
  }
  row.parts = CommonOf(whole).ScaledTo(row.e2e);
  // What a request that broke off waited for after its last token is not known.
  row.parts[RequestPart::kUnknown] += row.e2e - row.parts.Sum();
  row.ttft_parts = CommonOf(first);
  row.ttft = row.ttft_parts.Sum();
  row.sure = is_one && IsTied(joined);
  row.outside =
      std::min(engine->splitter->Outside(times, fits.front()), row.parts[RequestPart::kUnknown]);
  row.trace = join_.engines[joined.engine].trace;
  const auto is_known = [](uint32_t step) { return step != RequestFit::kNoStep; };
  const std::vector<uint32_t>& steps = fits.front().steps();
  row.steps_known =
      std::ranges::all_of(fits, [&](const RequestFit& fit) { return fit.steps() == steps; });
  row.first_step = *std::ranges::find_if(steps, is_known);
  const bool begins_known = is_one && is_known(fits.front().first_read());
  if (is_known(fits.front().first_read())) row.first_step = fits.front().first_read();
  row.reads_known = begins_known;
  row.token_step = steps.front();
  row.last_step = *std::find_if(steps.rbegin(), steps.rend(), is_known);
  return row;
}

std::optional<RequestDetail> SplitRun::DetailOf(size_t number) const {
  const RequestRow row = RowOf(number);
  if (row.lacks != RequestLacks::kNothing) return std::nullopt;
  const Engine& engine = *EngineOfRequest(number);
  const RequestTimes times = TimesOf(number, engine);
  const std::vector<RequestFit> fits = FitsOf(number, join_.requests[number].tokens.size());
  RequestDetail detail{times.due, times.sent, {}, {}, false};
  const std::vector<uint32_t>& first = fits.front().steps();
  if (row.steps_known && fits.front().first_read() != RequestFit::kNoStep) {
    for (uint32_t step = fits.front().first_read(); step <= first.front(); ++step) {
      if (engine.digest->steps[step].label.context_requests != 0 || step == first.front())
        detail.reads.push_back(step);
    }
    detail.reads_known = fits.size() == 1;
  }
  size_t tokens = 0;
  for (size_t chunk = 0; chunk < times.chunks.size(); ++chunk) {
    tokens += times.chunks[chunk].tokens;
    RequestDetail::Chunk& of = detail.chunks.emplace_back();
    of.seen = times.chunks[chunk].seen;
    of.tokens = times.chunks[chunk].tokens;
    if (const std::optional<Seat> seat = SeatOf(number, tokens - 1)) {
      of.step = seat->first;
      of.step_at_most = seat->last;
    }
    if (chunk == 0) continue;
    std::vector<RequestParts> parts;
    for (const RequestFit& fit : fits) parts.push_back(engine.splitter->Gap(times, fit, chunk));
    of.gap = CommonOf(parts);
  }
  return detail;
}

// Engines whose join is wrong: so many of their requests contradict the clock that single wrong
// times do not explain it.
std::vector<uint32_t> EnginesWithContradictions(const std::vector<RequestRow>& rows,
                                                const RequestJoin& join) {
  constexpr double kMany = 0.05;
  constexpr size_t kLeast = 3;
  std::vector<uint32_t> wrong;
  for (uint32_t engine = 0; engine < join.engines.size(); ++engine) {
    size_t split = 0, contradict = 0;
    for (const RequestRow& row : rows) {
      if (join.requests[row.number].engine != engine) continue;
      split += row.lacks == RequestLacks::kNothing ? 1 : 0;
      contradict += row.lacks == RequestLacks::kClock ? 1 : 0;
    }
    if (contradict >= kLeast &&
        static_cast<double>(contradict) > kMany * static_cast<double>(split + contradict))
      wrong.push_back(engine);
  }
  return wrong;
}

}  // namespace

std::string_view RequestLacksId(RequestLacks lacks) {
  return kLacksIds.at(static_cast<size_t>(lacks));
}

RequestRows SplitRows(const RequestInput& input) {
  SplitRun run(input);
  RequestRows split;
  for (size_t number = 0; number < input.table->rows.size(); ++number) {
    const Request& request = input.table->rows[number];
    if (request.sent && EndOf(request)) split.rows.push_back(run.RowOf(number));
  }
  const std::vector<uint32_t> wrong = EnginesWithContradictions(split.rows, *input.join);
  for (RequestRow& row : split.rows) {
    if (std::ranges::find(wrong, input.join->requests[row.number].engine) == wrong.end()) continue;
    row = run.WithoutSteps(row.number);
    row.lacks = RequestLacks::kClock;
  }
  for (const uint32_t engine : wrong) run.Refuse(engine);
  split.contradiction = !wrong.empty();
  split.clock_error = run.clock_error();
  return split;
}

std::optional<RequestDetail> DetailOf(const RequestInput& input, size_t request) {
  return SplitRun(input).DetailOf(request);
}

}  // namespace tacho

#include "analysis/requests/requests.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

namespace tacho {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(RequestLacks::kCount)> kLacksIds = {
    "", "tokens", "tie", "clock"};
constexpr double kBandBounds[] = {0, 0.4, 0.6, 0.9, 0.99, 1};
constexpr size_t kFewestForBands = 5;

// When the client should have handed the request over, as far as its record says.
TimeNs DueOf(const Request& request) {
  return request.due.value_or(request.handed.value_or(*request.sent));
}
// When its time ends; absent if it never ended.
std::optional<TimeNs> EndOf(const Request& request) {
  if (request.whole && request.last_token) return request.last_token;
  return request.ended ? request.ended : request.last_token;
}

// The requests of all engines, with what their parts are computed from.
class SplitRun {
 public:
  SplitRun(const RequestTable& table, const std::vector<RequestEngine>& engines,
           const std::vector<RequestTie>& ties)
      : table_(table), engines_(engines), ties_(ties), reads_(table.rows.size()) {
    for (uint32_t engine = 0; engine < engines.size(); ++engine) {
      const RequestEngine& of = engines[engine];
      splitters_.push_back(std::make_unique<RequestSplitter>(
          *of.steps, *of.cells, of.to_steps.error.value_or(DurationNs{})));
      FindReads(engine);
    }
  }

  RequestRow RowOf(size_t number) const;
  std::optional<RequestDetail> DetailOf(size_t number) const;

 private:
  RequestTimes TimesOf(size_t number) const {
    const Request& request = table_.rows[number];
    const ClockShift& to = engines_[ties_[number].engine].to_steps;
    RequestTimes times{to.Convert(DueOf(request)), to.Convert(*request.sent), {}};
    for (size_t i = request.first_chunk; i < request.end_chunk; ++i) {
      if (table_.chunks[i].tokens > 0)
        times.chunks.push_back({to.Convert(table_.chunks[i].at), table_.chunks[i].tokens});
    }
    return times;
  }
  bool IsTied(size_t number) const {
    return ties_[number].engine < engines_.size() && !ties_[number].fits.empty() &&
           table_.rows[number].sent;
  }
  void FindReads(uint32_t engine);
  // All ways in which it fits: those of the join, with the first and the last step that may have
  // been the first to read its prompt.
  std::vector<RequestFit> FitsOf(size_t number) const;

  const RequestTable& table_;
  const std::vector<RequestEngine>& engines_;
  const std::vector<RequestTie>& ties_;
  std::vector<std::unique_ptr<RequestSplitter>> splitters_;
  std::vector<PromptReads> reads_;  // by request
};

void SplitRun::FindReads(uint32_t engine) {
  const RequestEngine& of = engines_[engine];
  std::vector<StepLabel> labels;
  for (const DigestStep& step : *of.steps) labels.push_back(step.label);
  std::vector<PromptToRead> prompts;
  std::vector<uint32_t> earliest;
  std::vector<size_t> numbers;
  for (size_t number = 0; number < table_.rows.size(); ++number) {
    if (ties_[number].engine != engine || !IsTied(number)) continue;
    const Request& request = table_.rows[number];
    const std::vector<std::vector<uint32_t>>& fits = ties_[number].fits;
    uint32_t first = fits.front().front(), most = first;
    for (const auto& fit : fits) {
      first = std::min(first, fit.front());
      most = std::max(most, fit.front());
    }
    // The first step whose work can have begun after the request was sent.
    const TimeNs sent =
        of.to_steps.Convert(*request.sent) - of.to_steps.error.value_or(DurationNs{});
    const auto begins = std::ranges::lower_bound(
        of.cells->steps, sent, {}, [](const StepCells::Step& step) { return step.work.start; });
    const auto least = std::min(first, static_cast<uint32_t>(begins - of.cells->steps.begin()));
    reads_[number] = {least, first};
    if (first != most) continue;
    prompts.push_back({first, {}});
    if (request.prompt_tokens)
      prompts.back().tokens =
          std::max<int64_t>(1, *request.prompt_tokens - request.cached_tokens.value_or(0));
    earliest.push_back(least);
    numbers.push_back(number);
  }
  const std::vector<PromptReads> found = FindPromptReads(labels, prompts, earliest);
  for (size_t i = 0; i < numbers.size(); ++i) {
    reads_[numbers[i]] = found[i];
    if (found[i].exact())
      splitters_[engine]->AddFirstStep(of.to_steps.Convert(*table_.rows[numbers[i]].sent),
                                       found[i].first_at_most);
  }
}

std::vector<RequestFit> SplitRun::FitsOf(size_t number) const {
  std::vector<RequestFit> fits;
  const PromptReads& reads = reads_[number];
  for (const std::vector<uint32_t>& steps : ties_[number].fits) {
    const uint32_t latest = ties_[number].fits.size() > 1 ? steps.front() : reads.first_at_most;
    fits.push_back({latest, steps});
    if (reads.first_at_least < latest) fits.push_back({reads.first_at_least, steps});
  }
  return fits;
}

RequestRow SplitRun::RowOf(size_t number) const {
  const Request& request = table_.rows[number];
  RequestRow row;
  row.id = request.id;
  row.scenario = request.scenario;
  row.whole = request.whole;
  row.prompt_tokens = request.prompt_tokens;
  for (size_t i = request.first_chunk; i < request.end_chunk; ++i)
    row.tokens += table_.chunks[i].tokens;
  const uint32_t engine = ties_[number].engine;
  if (engine < engines_.size())
    row.worker = engines_[engine].name;
  else if (request.worker < table_.workers.size())
    row.worker = table_.workers[request.worker].name;
  const TimeNs due = DueOf(request);
  row.e2e = std::max(DurationNs{}, *EndOf(request) - due);
  const DurationNs client = std::clamp(*request.sent - due, DurationNs{}, row.e2e);
  const auto without_steps = [&](DurationNs length) {
    RequestParts parts;
    parts[RequestPart::kClient] = std::min(client, length);
    parts[RequestPart::kUnknown] = length - parts[RequestPart::kClient];
    return parts;
  };
  row.parts = without_steps(row.e2e);
  if (request.first_token) {
    row.ttft = std::max(DurationNs{}, *request.first_token - due);
    row.ttft_parts = without_steps(*row.ttft);
  }
  row.lacks = row.tokens == 0 ? RequestLacks::kTokens : RequestLacks::kTie;
  if (row.tokens == 0 || !IsTied(number)) return row;

  const RequestTimes times = TimesOf(number);
  const RequestSplitter& splitter = *splitters_[engine];
  std::vector<RequestFit> fits = FitsOf(number);
  std::erase_if(fits, [&](const RequestFit& fit) { return splitter.Contradicts(times, fit); });
  row.lacks = fits.empty() ? RequestLacks::kClock : RequestLacks::kNothing;
  if (fits.empty()) return row;
  std::vector<RequestParts> whole, first;
  for (const RequestFit& fit : fits) {
    whole.push_back(splitter.UntilChunk(times, fit, times.chunks.size() - 1));
    first.push_back(splitter.UntilChunk(times, fit, 0));
  }
  row.parts = CommonOf(whole).ScaledTo(row.e2e);
  // After its last token a request that broke off waited for something that never came.
  row.parts[RequestPart::kUnknown] += row.e2e - row.parts.Sum();
  row.ttft_parts = CommonOf(first);
  row.ttft = row.ttft_parts.Sum();
  row.sure = fits.size() == 1;
  row.trace = engines_[engine].trace;
  row.first_step = fits.front().first_read;
  row.last_step = fits.front().steps.back();
  return row;
}

std::optional<RequestDetail> SplitRun::DetailOf(size_t number) const {
  if (!IsTied(number)) return std::nullopt;
  const RequestTimes times = TimesOf(number);
  const RequestSplitter& splitter = *splitters_[ties_[number].engine];
  std::vector<RequestFit> fits = FitsOf(number);
  std::erase_if(fits, [&](const RequestFit& fit) { return splitter.Contradicts(times, fit); });
  if (fits.empty() || times.chunks.empty()) return std::nullopt;
  RequestDetail detail;
  detail.fits = ties_[number].fits.size();
  detail.steps = fits.front().steps;
  detail.reads_known = reads_[number].exact() && detail.fits == 1;
  const std::vector<DigestStep>& steps = *engines_[ties_[number].engine].steps;
  for (uint32_t step = fits.front().first_read; step <= detail.steps.front(); ++step) {
    if (steps[step].label.context_requests != 0 || step == detail.steps.front())
      detail.reads.push_back(step);
  }
  size_t tokens = times.chunks.front().tokens;
  for (size_t chunk = 1; chunk < times.chunks.size(); ++chunk) {
    std::vector<RequestParts> parts;
    for (const RequestFit& fit : fits) parts.push_back(splitter.Gap(times, fit, chunk));
    tokens += times.chunks[chunk].tokens;
    detail.gaps.push_back({chunk, times.chunks[chunk].seen - times.chunks[chunk - 1].seen,
                           CommonOf(parts),
                           detail.steps[std::min(tokens, detail.steps.size()) - 1]});
  }
  return detail;
}

// Rounds the means so that the sum is that of the rounded sums before each part.
RequestGroup MeansOf(const std::vector<const RequestRow*>& rows) {
  RequestGroup group;
  group.count = rows.size();
  if (rows.empty()) return group;
  RequestParts sums;
  double tokens = 0;
  for (const RequestRow* row : rows) {
    sums.Add(row->parts);
    tokens += static_cast<double>(row->tokens);
  }
  const auto count = static_cast<int64_t>(rows.size());
  group.tokens = tokens / static_cast<double>(count);
  int64_t before = 0, mean_before = 0;
  for (size_t i = 0; i < kRequestParts; ++i) {
    before = AddSaturated(before, sums.ns[i].ns);
    const int64_t mean = before / count;
    group.parts.ns[i] = {mean - mean_before};
    mean_before = mean;
  }
  return group;
}

void AddBands(std::vector<const RequestRow*> whole, RequestAnalysis& analysis) {
  std::ranges::stable_sort(whole, {}, [](const RequestRow* row) { return row->e2e; });
  const size_t count = whole.size();
  size_t begin = 0;
  for (size_t band = 0; band + 1 < std::size(kBandBounds); ++band) {
    const double to = kBandBounds[band + 1];
    auto end = static_cast<size_t>(std::llround(to * static_cast<double>(count)));
    // The slowest one is in the last band, and the middle one in the median band.
    if (to < 1 && count > 0) end = std::min(end, count - 1);
    if (band == kMedianBand) end = std::max(end, std::min(count - 1, count / 2 + 1));
    end = std::max(end, begin);
    RequestGroup group = MeansOf({whole.begin() + static_cast<ptrdiff_t>(begin),
                                  whole.begin() + static_cast<ptrdiff_t>(end)});
    group.from = kBandBounds[band];
    group.to = to;
    analysis.bands.push_back(group);
    begin = end;
  }
}

void AddSlowest(RequestAnalysis& analysis) {
  const RequestGroup &median = analysis.bands[kMedianBand], &slow = analysis.bands[kSlowestBand];
  if (median.count == 0 || slow.count == 0) return;
  SlowestHave have{slow.e2e() - median.e2e(), {}, slow.tokens, median.tokens};
  for (size_t i = 0; i < kRequestParts; ++i) {
    const DurationNs more = slow.parts.ns[i] - median.parts.ns[i];
    if (more > DurationNs{}) have.parts.push_back({static_cast<RequestPart>(i), more});
  }
  std::ranges::stable_sort(have.parts, std::ranges::greater{}, &SlowestHave::Part::more);
  analysis.slowest = std::move(have);
}

}  // namespace

std::string_view RequestLacksId(RequestLacks lacks) {
  return kLacksIds.at(static_cast<size_t>(lacks));
}

RequestAnalysis SplitRequests(const RequestTable& table, const std::vector<RequestEngine>& engines,
                              const std::vector<RequestTie>& ties) {
  RequestAnalysis analysis;
  const SplitRun run(table, engines, ties);
  for (size_t number = 0; number < table.rows.size(); ++number) {
    const Request& request = table.rows[number];
    if (request.sent && EndOf(request)) analysis.rows.push_back(run.RowOf(number));
  }
  for (const RequestEngine& engine : engines) {
    const DurationNs error = engine.to_steps.error.value_or(DurationNs{});
    analysis.clock_error = std::max(analysis.clock_error.value_or(error), error);
  }
  uint64_t tokens = 0, tied = 0;
  std::vector<const RequestRow*> whole;
  std::map<std::string, std::vector<const RequestRow*>> scenarios;
  for (const RequestRow& row : analysis.rows) {
    tokens += row.tokens;
    if (row.lacks == RequestLacks::kNothing) tied += row.tokens;
    if (!row.whole) continue;
    whole.push_back(&row);
    scenarios[row.scenario].push_back(&row);
  }
  if (tokens > 0) analysis.tied_share = static_cast<double>(tied) / static_cast<double>(tokens);
  if (scenarios.size() > 1) {
    for (const auto& [name, rows] : scenarios) {
      analysis.scenarios.push_back(MeansOf(rows));
      analysis.scenarios.back().scenario = name;
    }
  }
  if (whole.empty()) return analysis;
  AddBands(std::move(whole), analysis);
  const uint64_t count =
      std::accumulate(analysis.bands.begin(), analysis.bands.end(), uint64_t{0},
                      [](uint64_t sum, const RequestGroup& band) { return sum + band.count; });
  if (count >= kFewestForBands) AddSlowest(analysis);
  return analysis;
}

std::optional<RequestDetail> DetailOf(const RequestTable& table,
                                      const std::vector<RequestEngine>& engines,
                                      const std::vector<RequestTie>& ties, size_t request) {
  return SplitRun(table, engines, ties).DetailOf(request);
}

}  // namespace tacho

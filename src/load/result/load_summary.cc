#include "load/result/load_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/time.h"

namespace tacho {
namespace {

// Bounds for the client's lateness (a share of the median TTFT, but at least kLeastLatenessNs) and
// for its share of a core. Above them the client affects its own measurements. A tick of the
// kernel's timer and one round of the event loop stay well below them.
constexpr double kLatenessOfTtft = 0.05, kLeastLatenessNs = 2e6, kMostCpuShare = 0.85;

// Rates over a shorter time would cover only a few engine steps.
constexpr double kLeastSteadyNs = 1e9;

using Picked = std::vector<const RequestRecord*>;

template <typename TimeOf>
Distribution DescribeTimes(const Picked& requests, std::span<const double> percents,
                           const TimeOf& time_of) {
  std::vector<double> samples;
  samples.reserve(requests.size());
  for (const RequestRecord* request : requests) {
    if (const auto time = time_of(*request)) samples.push_back(static_cast<double>(*time));
  }
  return Describe(std::move(samples), percents);
}

template <typename Append>
Distribution DescribeGaps(const Picked& requests, std::span<const double> percents,
                          const Append& append) {
  std::vector<double> samples;
  for (const RequestRecord* request : requests) append(*request, samples);
  return Describe(std::move(samples), percents);
}

int64_t PromptTokens(const RequestRecord& request) {
  return request.prompt_tokens > 0 ? request.prompt_tokens : request.planned_prompt_tokens;
}

void CountStatus(const RequestRecord& request, LoadFigures& figures) {
  ++figures.sent;
  switch (request.status) {
    case RequestStatus::kDone:
      ++figures.done;
      break;
    case RequestStatus::kFailed:
      ++figures.failed;
      break;
    case RequestStatus::kPartial:
      ++figures.partial;
      break;
    case RequestStatus::kCancelled:
      ++figures.cancelled;
      break;
  }
}

// The share of a request's output that came inside the interval. Without chunks, all output counts
// as having come at the request's end.
template <typename Inside>
double ShareInside(const RequestRecord& request, const Inside& inside) {
  if (request.chunk_ns.empty()) return inside(request.last_choice_ns) ? 1 : 0;
  double tokens = 0, all = 0;
  for (size_t i = 0; i < request.chunk_ns.size(); ++i) {
    all += request.chunk_tokens[i];
    if (inside(request.chunk_ns[i])) tokens += request.chunk_tokens[i];
  }
  return all > 0 ? tokens / all : 0;
}

// The time in which engines wrote their traces. No rate includes this time, nor what other engines
// sent during it.
struct Flush {
  int64_t from_ns = 0, to_ns = 0;  // both 0: never
  [[nodiscard]] bool Holds(int64_t at_ns) const { return at_ns >= from_ns && at_ns < to_ns; }
  [[nodiscard]] int64_t Inside(int64_t from, int64_t to) const {
    return std::max<int64_t>(0, std::min(to_ns, to) - std::max(from_ns, from));
  }
};

// Sets the rates from the output that came inside an interval, no matter when its requests were
// sent. A request counts by the share of its output inside, so that tokens divided by requests is
// right: if requests come in waves, counting whole requests would be wrong by up to a wave.
void SetRates(const Picked& requests, int64_t from_ns, int64_t to_ns, const Flush& flush,
              const SummaryOptions& options, LoadFigures& figures) {
  figures.duration_ns = to_ns - from_ns - flush.Inside(from_ns, to_ns);
  if (figures.duration_ns <= 0) return;
  const auto inside = [&](int64_t at_ns) {
    return at_ns >= from_ns && at_ns <= to_ns && !flush.Holds(at_ns);
  };
  double done = 0, good = 0, prompt = 0, output = 0, received = 0;
  for (const RequestRecord* request : requests) {
    const double share = ShareInside(*request, inside);
    const double tokens = share * static_cast<double>(request->output_tokens);
    received += tokens;
    if (request->status != RequestStatus::kDone) continue;
    done += share;
    output += tokens;
    if (figures.good && KeepsSlos(*request, options.slos)) good += share;
    if (inside(request->first_choice_ns)) prompt += static_cast<double>(PromptTokens(*request));
  }
  const double seconds = static_cast<double>(figures.duration_ns) / kNsPerSecond;
  figures.requests_per_s = done / seconds;
  figures.good_per_s = good / seconds;
  figures.prompt_tokens_per_s = prompt / seconds;
  figures.output_tokens_per_s = output / seconds;
  figures.received_tokens_per_s = received / seconds;
}

LoadFigures FiguresOf(const Picked& requests, const SummaryOptions& options) {
  LoadFigures figures;
  if (!options.slos.empty()) figures.good = 0;
  Picked done;
  for (const RequestRecord* request : requests) {
    CountStatus(*request, figures);
    if (request->status != RequestStatus::kDone) {
      figures.lost_tokens += request->output_tokens;
      continue;
    }
    done.push_back(request);
    figures.prompt_tokens += PromptTokens(*request);
    figures.output_tokens += request->output_tokens;
    if (request->cached_tokens >= 0) {
      figures.cached_tokens = figures.cached_tokens.value_or(0) + request->cached_tokens;
    }
    if (request->output_tokens != request->planned_output_tokens) ++figures.wrong_length;
    if (figures.good && KeepsSlos(*request, options.slos)) ++*figures.good;
    figures.met_flush += request->met_flush ? 1 : 0;
    figures.unsure_end += request->all_unsure ? 1 : 0;
    figures.unsure_first += request->all_unsure || request->first_unsure ? 1 : 0;
    figures.unsure_gaps += request->all_unsure || request->unsure_chunks > 0 ? 1 : 0;
    figures.chunks += request->chunk_ns.size();
    for (size_t i = 1; i < request->chunk_ns.size(); ++i) {
      if (request->chunk_ns[i] == request->chunk_ns[i - 1]) ++figures.coalesced_chunks;
    }
  }
  if (figures.unsure_first + figures.met_flush > 0) figures.good.reset();
  const std::span<const double> percents = options.percents;
  if (!figures.TtftIsUnsure()) {
    figures.ttft = DescribeTimes(done, percents, TtftNs);
    figures.tpot = DescribeTimes(done, percents, TpotNs);
    figures.intended_ttft = DescribeTimes(done, percents, IntendedTtftNs);
  }
  if (!figures.EndToEndIsUnsure()) {
    figures.e2e = DescribeTimes(done, percents, EndToEndNs);
    figures.intended_e2e = DescribeTimes(done, percents, IntendedEndToEndNs);
  }
  figures.queue = DescribeTimes(done, percents, [](const RequestRecord& request) {
    return std::optional<int64_t>(QueueNs(request));
  });
  figures.lateness = DescribeTimes(requests, percents, LatenessNs);
  if (!figures.GapsAreUnsure()) {
    figures.chunk_gap = DescribeGaps(done, percents, AppendChunkGaps);
    figures.itl = DescribeGaps(done, percents, AppendTokenGaps);
  }
  return figures;
}

// The largest number of chunks in one second. Seconds count from the start of the load, as in
// vLLM's client.
uint64_t PeakChunks(const LoadRecords& records) {
  std::vector<uint64_t> chunks;
  for (const RequestRecord& request : records.requests) {
    if (request.status != RequestStatus::kDone) continue;
    for (const int64_t at_ns : request.chunk_ns) {
      const auto second = static_cast<size_t>((at_ns - records.started_ns) / kNsPerSecond);
      if (chunks.size() <= second) chunks.resize(second + 1);
      ++chunks[second];
    }
  }
  return chunks.empty() ? 0 : *std::max_element(chunks.begin(), chunks.end());
}

ClientVerdict Judge(const LoadRecords& records, const LoadFigures& whole) {
  std::vector<double> late;
  for (const RequestRecord& request : records.requests) {
    if (const auto ns = LatenessNs(request)) late.push_back(static_cast<double>(*ns));
  }
  ClientVerdict verdict;
  // tacho does not judge the client if no request was answered.
  const bool answered =
      std::any_of(records.requests.begin(), records.requests.end(), [](const RequestRecord& r) {
        return r.status == RequestStatus::kDone || r.output_tokens > 0;
      });
  if (late.empty() || !answered) {
    verdict.why = late.empty() ? "nothing was sent" : "no request was answered";
    return verdict;
  }
  std::sort(late.begin(), late.end());
  const double p99 = PercentileOf(late, 99);
  const double ttft = whole.ttft.At(50).value_or(0);
  const double bound = std::max(kLeastLatenessNs, ttft * kLatenessOfTtft);
  const double lag = static_cast<double>(records.client.lag_p99_ns);
  verdict.why = fmt::format(
      "sent {:.2f} ms late at p99, its loop {:.2f} ms (bound {:.2f} ms), {:.0f} % of a core (bound "
      "{:.0f} %)",
      p99 / 1e6, lag / 1e6, bound / 1e6, records.client.most_cpu_share * 100, kMostCpuShare * 100);
  const Priority priority = records.client.priority;
  if (priority == Priority::kRealTime) verdict.why += ", at real-time priority";
  if (priority == Priority::kEased) {
    verdict.why += ", at real-time priority until it took half a core";
  }
  const uint64_t unsure = std::max(whole.unsure_first, whole.unsure_gaps);
  if (unsure > 0) {
    verdict.why += fmt::format("; it read {} of {} requests too late to know when each chunk came",
                               unsure, whole.done);
  }
  verdict.judged = true;
  verdict.client_bound = p99 > bound || lag > bound ||
                         records.client.most_cpu_share > kMostCpuShare ||
                         TooManyUnsure(unsure, whole.done);
  if (verdict.client_bound) {
    verdict.why +=
        fmt::format(": {}free its cores of other work, or share the load among several hosts",
                    priority == Priority::kRefused
                        ? "permit it real-time priority (CAP_SYS_NICE, or ulimit -r 1), "
                        : "");
  }
  return verdict;
}

// `error` with 0 in place of its figures (bytes, tokens, times), so that errors of one kind have
// the same text. An HTTP status and digits inside a word (an address, an id) stay, because they do
// distinguish kinds of errors.
std::string KindOfError(std::string_view error) {
  constexpr std::string_view kStatus = "HTTP ";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string kind;
  for (size_t i = 0; i < error.size();) {
    const bool begins = i == 0 || error[i - 1] == ' ' || error[i - 1] == '(';
    const bool figure = begins && is_digit(error[i]) && !error.substr(0, i).ends_with(kStatus);
    if (!figure) {
      kind += error[i++];
      continue;
    }
    kind += '0';
    while (i < error.size() && (is_digit(error[i]) || error[i] == '.')) ++i;
  }
  return kind;
}

std::vector<ErrorCount> CountErrors(const LoadRecords& records) {
  std::map<std::string, ErrorCount> kinds;
  for (const RequestRecord& request : records.requests) {
    const bool counts_as_error =
        request.status == RequestStatus::kFailed || request.status == RequestStatus::kPartial;
    if (!counts_as_error) continue;
    ErrorCount& kind = kinds[KindOfError(request.error)];
    if (kind.count++ == 0) kind.error = request.error;
    kind.figures_differ |= kind.error != request.error;
  }
  std::vector<ErrorCount> errors;
  for (auto& [name, kind] : kinds) errors.push_back(std::move(kind));
  std::stable_sort(errors.begin(), errors.end(),
                   [](const ErrorCount& a, const ErrorCount& b) { return a.count > b.count; });
  return errors;
}

int64_t LastEndNs(const LoadRecords& records) {
  int64_t last = records.started_ns;
  for (const RequestRecord& request : records.requests) last = std::max(last, request.ended_ns);
  return last;
}

}  // namespace

LoadSummary Summarise(const LoadRecords& records, const SummaryOptions& options) {
  LoadSummary summary;
  Picked all;
  std::map<std::string, Picked> classes;
  for (const RequestRecord& request : records.requests) {
    all.push_back(&request);
    classes[request.scenario].push_back(&request);
  }
  const int64_t from = records.started_ns, to = LastEndNs(records);
  const Flush flush{records.flush_from_ns, records.flush_to_ns};
  const auto figures = [&](const Picked& picked) {
    LoadFigures all_of_it = FiguresOf(picked, options);
    SetRates(picked, from, to, flush, options, all_of_it);
    return all_of_it;
  };
  summary.whole = figures(all);
  summary.window = SteadyWindowOf(records.requests, options.most_at_once);
  // A steady window that contains a flush does not show a single load.
  if (summary.window && flush.Inside(summary.window->from_ns, summary.window->to_ns) > 0)
    summary.window.reset();
  if (summary.window) {
    Picked inside;
    for (const RequestRecord* request : all) {
      const int64_t sent = request->sent_ns;
      if (sent >= summary.window->from_ns && sent < summary.window->to_ns)
        inside.push_back(request);
    }
    LoadFigures steady = FiguresOf(inside, options);
    const int64_t length_ns = summary.window->to_ns - summary.window->from_ns;
    const bool long_enough =
        static_cast<double>(length_ns) >= std::max(kLeastSteadyNs, steady.e2e.At(50).value_or(0));
    if (long_enough && inside.size() < all.size() &&
        static_cast<double>(steady.done) >= summary.window->level) {
      summary.steady = std::move(steady);
      SetRates(all, summary.window->from_ns, summary.window->to_ns, flush, options,
               *summary.steady);
    }
  }
  if (classes.size() > 1) {
    for (const auto& [name, picked] : classes) {
      summary.classes.push_back({name, figures(picked)});
    }
  }
  summary.concurrency = ConcurrencyOf(records.requests, records.started_ns);
  summary.peak_chunks_per_s = PeakChunks(records);
  summary.client = records.client;
  summary.verdict = Judge(records, summary.whole);
  summary.errors = CountErrors(records);
  return summary;
}

}  // namespace tacho

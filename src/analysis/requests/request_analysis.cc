#include "analysis/requests/request_analysis.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace tacho {
namespace {

constexpr double kBandBounds[] = {0, 0.4, 0.6, 0.9, 0.99, 1};
constexpr size_t kFewestForBands = 5;

// The mean parts of `rows`. Rounds the running sum after each part, not each part by itself, so
// that the parts add up to the rounded mean e2e.
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

// `whole`: sorted by e2e.
void AddBands(const std::vector<const RequestRow*>& whole, RequestAnalysis& analysis) {
  const size_t count = whole.size();
  size_t begin = 0;
  for (size_t band = 0; band + 1 < std::size(kBandBounds); ++band) {
    const double to = kBandBounds[band + 1];
    auto end = static_cast<size_t>(std::llround(to * static_cast<double>(count)));
    // However few the requests, the slowest one is in the last band, and the middle one in the
    // median band.
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
  // The median's unknown time may be of any part.
  const DurationNs unknown = median.parts[RequestPart::kUnknown];
  for (size_t i = 0; i < kRequestParts; ++i) {
    const auto part = static_cast<RequestPart>(i);
    const DurationNs more = slow.parts[part] - median.parts[part] -
                            (part == RequestPart::kUnknown ? DurationNs{} : unknown);
    if (more > DurationNs{}) have.parts.push_back({part, more});
  }
  std::ranges::stable_sort(have.parts, std::ranges::greater{}, &SlowestHave::Part::more);
  analysis.slowest = std::move(have);
}

}  // namespace

RequestAnalysis SplitRequests(const RequestInput& input) {
  RequestAnalysis analysis;
  const RequestJoin& join = *input.join;
  RequestRows split = SplitRows(input);
  analysis.rows = std::move(split.rows);
  analysis.clock_error = split.clock_error;
  analysis.why = split.contradiction ? JoinWhy::kContradiction : join.why;
  if (join.tokens > 0 && !split.contradiction)
    analysis.tied_share = static_cast<double>(join.tied) / static_cast<double>(join.tokens);
  const std::vector<const RequestRow*> whole = RequestsByE2e(analysis);
  std::map<std::string, std::vector<const RequestRow*>> scenarios;
  for (const RequestRow* row : whole) scenarios[row->scenario].push_back(row);
  if (scenarios.size() > 1) {
    for (const auto& [name, rows] : scenarios) {
      analysis.scenarios.push_back(MeansOf(rows));
      analysis.scenarios.back().scenario = name;
    }
  }
  if (whole.empty()) return analysis;
  AddBands(whole, analysis);
  if (whole.size() >= kFewestForBands) AddSlowest(analysis);
  return analysis;
}

uint64_t RequestAnalysis::recorded() const {
  return static_cast<uint64_t>(std::ranges::count_if(
      rows, [](const RequestRow& row) { return row.lacks != RequestLacks::kRecorded; }));
}

std::vector<const RequestRow*> RequestsByE2e(const RequestAnalysis& requests) {
  std::vector<const RequestRow*> whole;
  for (const RequestRow& row : requests.rows) {
    if (row.whole) whole.push_back(&row);
  }
  const auto keep_if_any = [&](auto is_good) {
    if (std::ranges::any_of(whole, is_good)) std::erase_if(whole, std::not_fn(is_good));
  };
  keep_if_any([](const RequestRow* row) { return row->lacks == RequestLacks::kNothing; });
  keep_if_any(&RequestRow::inside);
  std::ranges::stable_sort(whole, {}, &RequestRow::e2e);
  return whole;
}

}  // namespace tacho

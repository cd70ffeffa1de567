#include "report/words/request_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/format_number.h"

namespace tacho {

std::string_view MeaningOf(RequestPart part) {
  switch (part) {
    case RequestPart::kClient:
      return "due, but not yet sent by the client's kernel";
    case RequestPart::kNetwork:
      return "what each request takes to its first step at least: network and front end";
    case RequestPart::kQueue:
      return "from sending to its first step, less network";
    case RequestPart::kPrefill:
      return "the device in the steps that read its prompt";
    case RequestPart::kWaitPrefill:
      return "what others' prompts added to the steps that its answer waited in or for";
    case RequestPart::kDecode:
      return "the device in the steps that made its tokens";
    case RequestPart::kComm:
      return "exposed communication in its steps";
    case RequestPart::kSkew:
      return "its ranks waited for each other";
    case RequestPart::kHost:
      return "the device was idle in its steps because of the host";
    case RequestPart::kBetweenSteps:
      return "no step ran";
    case RequestPart::kPreempted:
      return "steps that read no prompt ran without it";
    case RequestPart::kSend:
      return "from the end of its last step to the client's host";
    default:
      return "not known, or below the clocks' error";
  }
}

std::string_view RequestStatusId(const RequestRow& row) {
  return row.whole ? "done" : row.cancelled ? "cancelled" : "failed";
}

std::string_view JoinWhyId(JoinWhy why) {
  switch (why) {
    case JoinWhy::kJoined:
      return "joined";
    case JoinWhy::kOthers:
      return "others";
    case JoinWhy::kNoWorkers:
      return "no-workers";
    case JoinWhy::kNoRequests:
      return "no-requests";
    case JoinWhy::kNoSteps:
      return "no-steps";
    case JoinWhy::kNoClock:
      return "no-clock";
    case JoinWhy::kContradiction:
      return "contradiction";
    case JoinWhy::kTooMuch:
      break;
  }
  return "too-much";
}

std::string_view WhyNotJoined(JoinWhy why) {
  switch (why) {
    case JoinWhy::kJoined:
    case JoinWhy::kOthers:
      return "";
    case JoinWhy::kNoWorkers:
      return "run.json is missing or damaged, so nothing says which engines served them, and when";
    case JoinWhy::kNoRequests:
      return "no record has tokens and times";
    case JoinWhy::kNoSteps:
      return "no trace names its steps and the requests in them";
    case JoinWhy::kNoClock:
      return "the clocks of client and engine are not related";
    case JoinWhy::kContradiction:
      return "they fit no steps: records of another run, a wrong clock, lost steps, or preempted "
             "requests";
    case JoinWhy::kTooMuch:
      break;
  }
  return "the steps of too many tokens are open";
}

std::string_view WhyNotSplit(RequestLacks lacks) {
  switch (lacks) {
    case RequestLacks::kTokens:
      return "no token came";
    case RequestLacks::kTie:
      return "its tokens fit no steps, or too many";
    case RequestLacks::kRecorded:
      return "its tokens were made outside of the recording";
    case RequestLacks::kClock:
      return "its times contradict the engine's";
    default:
      return "";
  }
}

std::vector<std::string> RequestFacts(const RequestAnalysis& requests) {
  std::vector<std::string> facts = {FormatCounted(requests.rows.size(), "request")};
  const auto whole =
      static_cast<uint64_t>(std::ranges::count_if(requests.rows, &RequestRow::whole));
  if (whole < requests.rows.size())
    facts[0] += fmt::format(", {} answered in full", FormatCount(whole));
  if (const std::string_view why = WhyNotJoined(requests.why); !why.empty()) {
    facts.push_back(fmt::format("not tied to engine steps: {}", why));
    return facts;
  }
  const uint64_t recorded = requests.recorded();
  const auto inside =
      static_cast<uint64_t>(std::ranges::count_if(requests.rows, &RequestRow::inside));
  const bool all =
      recorded == requests.rows.size() &&
      std::ranges::none_of(requests.rows, [](const RequestRow& row) { return row.outside.ns > 0; });
  if (!all)
    facts.push_back(
        fmt::format("{} of the {} while steps were recorded, {} of these from start to end",
                    FormatCount(recorded), FormatCount(requests.rows.size()),
                    inside == 0 ? "none" : FormatCount(inside)));
  if (requests.tied_share)
    facts.push_back(fmt::format("{} % of {} tokens tied to the one step that made them",
                                FormatPercent(*requests.tied_share),
                                all ? "their" : "the recorded"));
  if (requests.clock_error)
    facts.push_back("clocks right within " + FormatDuration(*requests.clock_error));
  if (requests.why == JoinWhy::kOthers) facts.emplace_back("the engine also served others");
  return facts;
}

std::string WhatSlowestHave(const RequestAnalysis& requests) {
  if (!requests.slowest) return "";
  const SlowestHave& have = *requests.slowest;
  const RequestGroup &slow = requests.bands[kSlowestBand], &median = requests.bands[kMedianBand];
  std::string text = fmt::format("the slowest 1 % ({}) took {}, the median {}",
                                 FormatCounted(slow.count, "request"), FormatDuration(slow.e2e()),
                                 FormatDuration(median.e2e()));
  if (have.more <= DurationNs{}) return text;
  // Names the parts that explain at least a tenth of the difference, three at most.
  constexpr size_t kMost = 3;
  const bool at_least = median.parts[RequestPart::kUnknown].ns > 0;
  size_t shown = 0;
  for (const SlowestHave::Part& part : have.parts) {
    if (shown == kMost || part.more.ns * 10 < have.more.ns) break;
    if (at_least && part.part == RequestPart::kUnknown) continue;
    text += fmt::format("{}{} +{}",
                        shown > 0  ? ", "
                        : at_least ? ": at least "
                                   : ": ",
                        RequestPartId(part.part), FormatDuration(part.more));
    ++shown;
  }
  // Says if the answers are longer, because longer answers take longer.
  if (have.tokens >= 1.2 * have.median_tokens)
    text += fmt::format("; their answers are longer, {} tokens against {}",
                        FormatCount(static_cast<uint64_t>(std::llround(have.tokens))),
                        FormatCount(static_cast<uint64_t>(std::llround(have.median_tokens))));
  return text;
}

std::string OfRequests(const std::vector<const RequestRow*>& by_e2e) {
  const RequestRow& first = *by_e2e.front();
  const std::string_view which = first.inside() ? " that lie wholly in the recording"
                                 : first.lacks == RequestLacks::kNothing ? " that lie partly in it"
                                                                         : "";
  return fmt::format("of {}{}", FormatCount(by_e2e.size()), which);
}

std::string GroupName(const RequestGroup& group) {
  if (!group.scenario.empty()) return group.scenario;
  const auto percent = [](double share) { return std::llround(share * 100); };
  if (group.from <= 0 && group.to >= 1) return "all";
  if (group.from <= 0) return fmt::format("fastest {} %", percent(group.to));
  if (group.to >= 1) return fmt::format("slowest {} %", percent(1 - group.from));
  const bool is_median = group.from < 0.5 && group.to > 0.5;
  return fmt::format("p{} to p{}{}", percent(group.from), percent(group.to),
                     is_median ? ", median" : "");
}

}  // namespace tacho

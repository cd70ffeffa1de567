#pragma once

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/facts.h"
#include "run/read_run.h"

namespace tacho {

// The result for one trace. `item` is absent if the user did not ask for this trace
// (SeenTrace::lacks tells why).
template <typename Item>
struct Outcome {
  SeenTrace seen;
  std::optional<Item> item;
  bool first = true;           // no earlier trace of the same file has an item
  bool of_collection = false;  // the trace's results say that it was analyzed together with others
};

// Calls `work`. If memory runs out, `work` ends early and this function returns.
template <typename Work>
void WhileMemoryLasts(const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  } catch (const std::system_error& error) {  // there is no memory for a thread's stack
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
  }
}

template <typename Item>
// All outcomes of one source.
using Outcomes = std::vector<Outcome<Item>>;

// `trace`: a Trace or its analysis.
SeenTrace Seen(const auto& trace, std::string path) {
  SeenTrace seen;
  seen.path = std::move(path);
  seen.span = trace.span;
  if (trace.header.base_time_ns >= 0) seen.base_time_ns = trace.header.base_time_ns;
  seen.trace_id = trace.header.trace_id;
  return seen;
}

// Whether a trace with these facts was asked for: kNothing if it was, else what it lacks.
inline SeenTrace::Lacks LacksOf(const TraceFacts& facts, const TraceChoice& choice) {
  const bool is_of_ranks =
      choice.ranks.empty() ||
      (facts.rank && std::ranges::find(choice.ranks, *facts.rank) != choice.ranks.end());
  if (!is_of_ranks) return SeenTrace::Lacks::kRank;
  return choice.first_worker_only && !IsRank(facts.role) ? SeenTrace::Lacks::kWork
                                                         : SeenTrace::Lacks::kNothing;
}

}  // namespace tacho

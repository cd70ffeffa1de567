#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analysis/prepared_trace.h"
#include "analysis/scope_for_test.h"
#include "base/result.h"
#include "model/trace.h"
#include "model/trace_builder.h"

namespace tacho {

// A whole trace, out of which mutations make traces that lie.
struct Base {
  Base(std::string file, std::string text, Trace read);

  std::string path, json;
  Trace trace;
  PreparedTrace prepared;
  std::vector<std::vector<uint32_t>> work_of_call;  // by row of Trace::host_calls: rows of gpu
  std::vector<uint32_t> calls;                      // with work, by start
};
// Fails if the file is no trace of a GPU, or has lost something already: then nothing is known of
// what it should say.
Result<std::unique_ptr<Base>> ReadBase(const std::string& path, size_t most_bytes);

// What is done to a base. Rows are those of its tables.
struct Mutation {
  std::string what;
  std::vector<uint8_t> no_work, no_call;  // by row of gpu and host_calls; 1: gone
  bool cuts = false;                      // all that came later, or before, is gone
  // Host rows and annotations that start outside are gone.
  std::optional<Interval> host = {};
  // The device's clock: what is added to its times, at the start of the trace and at its end.
  DurationNs off_at_start = {}, off_at_end = {};

  [[nodiscard]] bool moves_clock() const { return off_at_start.ns != 0 || off_at_end.ns != 0; }
  [[nodiscard]] bool drifts() const { return off_at_start != off_at_end; }
};
Mutation RandomMutation(const Base& base, std::mt19937_64& random);

Trace Mutated(const Base& base, const Mutation& mutation);
// As scripts write it that put the events of two files into one.
Trace Merged(const Base& a, const Base& b);

}  // namespace tacho

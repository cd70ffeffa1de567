#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "io/block_stream.h"
#include "model/event.h"

namespace tacho {

struct KinetoReadOptions {
  // If false, every event takes the slow path. The result is the same; tests compare the two.
  bool fast_path = true;
  // Events larger than this are left out, with a note. The exact bound lies between this and twice
  // this.
  size_t largest_event_bytes = size_t{64} << 20;

  // Real traces never reach the bounds below; tests lower them. An event that does not end within
  // this many bytes is read as one with an unclosed string.
  size_t runaway_bytes = size_t{1} << 20;
  // Once the fast path has learnt this many bytes, it forgets all shapes and starts again. This
  // bounds the memory if no two events are alike. Results do not depend on it.
  size_t learnt_bytes = size_t{256} << 20;
  size_t learnt_bytes_without_args = size_t{8} << 20;
  // An argument that has more values than this in the shapes of one category gets a slot. Results
  // do not depend on it.
  size_t many_arg_values = 48;
};

struct KinetoReadResult {
  uint64_t json_bytes = 0;  // decompressed bytes that were read
  // Where the text first is no trace: at a damaged event, or at text after the end of the trace.
  std::optional<uint64_t> first_damage = {};
  // Another trace begins in the damaged text: several programs wrote to one file.
  bool has_other_trace = false;
};

// Reads a trace in Kineto's or Chrome's JSON (FORMAT.md) from `stream` into `sink`. Damaged parts
// are repaired, or skipped and noted. counts.by_label counts events by phase (a letter of Chrome's
// format).
//
// Fails with kUnreadable only if the stream holds nothing that could be a trace: no bytes, text
// that is neither an object nor an array, or valid JSON of another kind (an array of other things
// than events, an object without any key of a trace). An object that has a key of a trace but no
// "traceEvents" is a trace without events.
Result<KinetoReadResult> ReadKinetoJson(BlockStream& stream, EventSink& sink,
                                        const KinetoReadOptions& options = {});

}  // namespace tacho

#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "io/block_stream.h"
#include "model/event.h"

namespace tacho {

struct KinetoReadOptions {
  // Off: every event takes the slow path. The result is the same; tests compare the two.
  bool fast_path = true;
  // Events larger than about this (up to twice as much) are left out, with a note.
  size_t largest_event_bytes = size_t{64} << 20;

  // Bounds that real traces never reach; tests lower them. An event that does not end within this
  // many bytes counts as one with an unclosed string.
  size_t runaway_bytes = size_t{1} << 20;
  // Beyond this many learnt bytes the fast path forgets all shapes and starts again. This bounds
  // the memory if no two events are alike. Results do not depend on it.
  size_t learnt_bytes = size_t{256} << 20;
  size_t learnt_bytes_without_args = size_t{8} << 20;
  // An argument with more values than this in the shapes of a category gets a slot. Results do not
  // depend on it.
  size_t many_arg_values = 48;
};

struct KinetoReadResult {
  uint64_t json_bytes = 0;  // decompressed bytes consumed
  // Where the text first stops being a trace: a damaged event, or text after the end of the trace.
  std::optional<uint64_t> first_damage = {};
  // Another trace begins in the damaged text: several writers of one file.
  bool has_other_trace = false;
};

// Reads a trace in Kineto's or Chrome's JSON (FORMAT.md) from `stream` into `sink`. Damaged parts
// are repaired, or skipped and noted. counts.by_label counts events by their phase (a letter of
// Chrome's format).
//
// Fails with kUnreadable only when the stream holds nothing that could be a trace: no bytes, text
// that is neither an object nor an array, or valid JSON of another kind (an array of something else
// than events, an object without any key of a trace). An object with a key of a trace but without
// "traceEvents" is a trace without events.
Result<KinetoReadResult> ReadKinetoJson(BlockStream& stream, EventSink& sink,
                                        const KinetoReadOptions& options = {});

}  // namespace tacho

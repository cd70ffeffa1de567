#pragma once

#include <string_view>

namespace tacho {

// Whether this top-level key identifies a trace.
bool IsTraceKey(std::string_view key);

// True if `start`, the first bytes of a file, looks like JSON: an object or an array after an
// optional byte order mark and white space.
bool LooksLikeJson(std::string_view start);

// True if `start` looks like a trace in the Chrome JSON format, as Kineto and others write it; the
// file may be truncated or damaged. Any of three signs is enough:
//   - a top-level key that only traces have, such as "traceEvents" or "baseTimeNanoseconds"; or
//     "schemaVersion" with the value 1, unless the object ends within `start` without any other
//     sign;
//   - an array whose first element is an object with the key "ph";
//   - anywhere the key "traceEvents", or the keys "ph" and "ts" (re-written files with other keys
//   first).
bool LooksLikeTraceJson(std::string_view start);

}  // namespace tacho

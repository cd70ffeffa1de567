#pragma once

#include <string_view>

namespace tacho {

// Whether this top-level key shows that an object is a trace.
bool IsTraceKey(std::string_view key);

// Whether a file that begins with `start` looks like JSON: an object or an array, after an optional
// byte order mark and white space.
bool LooksLikeJson(std::string_view start);

// Whether `start` looks like a trace in Chrome's JSON format, as Kineto and others write it. The
// file may be truncated or damaged. Any of these signs is enough:
//  - an object with a top-level key that only traces have, such as "traceEvents" or
//    "baseTimeNanoseconds"; or with "schemaVersion" of value 1, unless the object ends within
//    `start` without another sign;
//  - an array whose first element is an object, and the key "ph" anywhere in `start`;
//  - an object with the key "traceEvents", or the keys "ph" and "ts", anywhere in `start` (files
//    that were rewritten with other keys first).
bool LooksLikeTraceJson(std::string_view start);

}  // namespace tacho

#pragma once

#include <string>
#include <string_view>

#include "analysis/device/idle_table.h"

namespace tacho {

// Causes of idle time in words.

// What the cause means, for a line below the table of causes.
std::string_view MeaningOf(IdleCause cause, Requests requests);

// "the host launched late for 71.0 % of the idle time". Uses only the cause and the call of `row`.
// `share`: for example "71.0 % of the idle time".
std::string IdleCauseText(const IdleCauseRow& row, Requests requests, const std::string& share);
// IdleCauseText for the first cause in `idle`, with its share of the idle time. `idle` has at least
// one cause.
std::string MainIdleCause(const IdleTable& idle);

// The name of a profiler overhead and its meaning, if known: "Command Buffer Full (the launch queue
// was full)".
std::string OverheadInWords(std::string_view name);

// `name` as visible text, cut to the length that a sentence allows.
std::string NameInSentence(std::string_view name);

}  // namespace tacho

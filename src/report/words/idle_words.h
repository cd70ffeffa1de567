#pragma once

#include <string>
#include <string_view>

#include "analysis/device/idle.h"

namespace tacho {

// Causes of idle time in words.

// A line below the table of causes.
std::string_view MeaningOf(IdleCause cause, Requests requests);

// The idle time without a known cause, and whether that is so much that the share of another cause
// is "at least" what it is.
DurationNs UnknownTime(const IdleTable& idle);
bool MuchIsUnknown(const IdleTable& idle);

// Whether the share of the first cause of `idle`, which has one, is a lower bound.
bool IsAtLeast(const IdleTable& idle);

// "the host launched late for 71.0 % of the idle time": the first cause of `idle`, which has one.
// `whose`: "the idle time".
std::string MainIdleCause(const IdleTable& idle, std::string_view whose);

// A slower host makes such idle time longer.
bool IsTheHosts(IdleCause cause);

// "Command Buffer Full (the launch queue was full)".
std::string OverheadInWords(std::string_view name);

// A name as short as a sentence needs it.
std::string NameInSentence(std::string_view name);

}  // namespace tacho

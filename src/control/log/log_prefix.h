#pragma once

#include <string_view>

// Prefixes that log collectors, or whoever joined several logs, put before a program's lines.

namespace tacho {

bool IsNameByte(char c);  // in the name of a pod, a container, a worker

// Removes what a collector puts before each line: "2025-09-02T08:04:02.88-07:00 " of docker and
// kubectl, "Aug 19 18:34:30 HOST NAME[PID]: " of journalctl, with either time, and "Aug 19 18:34:30
// HOST NAME: " of syslog.
void TakeStamp(std::string_view& text);

// stern's "POD CONTAINER " or "POD CONTAINER › " at the beginning of `text`; "" for any other text.
// A pod's name ends in its number, or in five letters that Kubernetes draws.
std::string_view PodPrefix(std::string_view text);

// The NAME in "NAME | ", "[NAME] ", "NAME: " or stern's prefix; "" for anything else, such as a
// progress bar.
std::string_view JoinedNameIn(std::string_view prefix);

}  // namespace tacho

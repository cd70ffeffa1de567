#pragma once

#include <string_view>

// Prefixes that log collectors, or programs that join several logs, put before a program's lines.

namespace tacho {

bool IsNameByte(char c);  // a byte that may be in the name of a pod, a container or a worker

// Removes the time (and host and program) that a collector puts before each line:
// "2025-09-02T08:04:02.88-07:00 " from docker and kubectl; "Aug 19 18:34:30 HOST NAME[PID]: " from
// journalctl, with a time of either form; and "Aug 19 18:34:30 HOST NAME: " from syslog.
void TakeStamp(std::string_view& text);

// The prefix of stern, "POD CONTAINER " or "POD CONTAINER › ", at the beginning of `text`; "" if
// there is none. A pod's name ends in its number, or in five random letters from Kubernetes.
std::string_view PodPrefix(std::string_view text);

// The NAME in "NAME | ", "[NAME] ", "NAME: " or stern's prefix; "" for anything else, such as a
// progress bar.
std::string_view JoinedNameIn(std::string_view prefix);

}  // namespace tacho

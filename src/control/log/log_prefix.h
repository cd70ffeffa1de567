#pragma once

#include <string_view>

// What collectors of logs, and who joined several, put before the lines of a program.

namespace tacho {

bool IsNameByte(char c);  // of a pod, a container, a worker

// Removes what a collector puts before each line: "2025-09-02T08:04:02.88-07:00 " of docker and
// kubectl, "Aug 19 18:34:30 HOST NAME[PID]: " of journalctl, with either time, and "Aug 19 18:34:30
// HOST NAME: " of syslog.
void TakeStamp(std::string_view& text);

// The "POD CONTAINER " or "POD CONTAINER › " of stern that `text` begins with; "" without. A pod's
// name ends in its number, or in five letters that Kubernetes draws.
std::string_view PodPrefix(std::string_view text);

// The NAME of "NAME | ", "[NAME] " or "NAME: ", and stern's; "" of all else, such as a progress
// bar.
std::string_view JoinedNameIn(std::string_view prefix);

}  // namespace tacho

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// A session of Nsight Systems on this host, as `nsys sessions list` shows it.
struct NsysSession {
  std::string id;     // "1014594"; NSYS_PROFILING_SESSION_ID in the environment of its processes
  std::string state;  // "Launched", "Collection"
  std::string name;
  // Whether it records now, or is waiting for a range to begin.
  [[nodiscard]] bool Records() const;
};

// The sessions in the table that `nsys sessions list` prints (ID, TIME, STATE, LAUNCH, NAME; a name
// may contain blanks). Skips other lines. At most 1,000.
std::vector<NsysSession> NsysSessionsIn(std::string_view list);

// The agent of a session: a process that `nsys launch` and `nsys profile` start and detach. It
// normally ends with its session. But if the `nsys` that started it is killed, the agent may stay
// and use up a whole core.
struct NsysAgent {
  int64_t pid = 0;
  std::string session;  // its name
  std::string program;  // path of the nsys that knows the session; "" if it may not be read
};
// The agents of this user in this mount namespace, ascending by pid. (`nsys sessions list` does not
// see the sessions of other namespaces either.)
std::vector<NsysAgent> NsysAgents();

// NAME, if an ancestor of the process is `nsys launch --session-new=NAME`; else "".
std::string NsysSessionAbove(int64_t pid);

// The CPU time that a process has used so far, in ns; -1 if it has ended or may not be read.
int64_t CpuTimeOf(int64_t pid);

}  // namespace tacho

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// A session of Nsight Systems on this host, as `nsys sessions list` shows it.
struct NsysSession {
  std::string id;     // "1014594"; in the environment of its processes as NSYS_PROFILING_SESSION_ID
  std::string state;  // "Launched", "Collection"
  std::string name;
  // Whether it records now, or waits for a range to begin.
  [[nodiscard]] bool Records() const;
};

// The sessions in the table that `nsys sessions list` prints (ID, TIME, STATE, LAUNCH, NAME; names
// may have blanks); other lines are skipped. At most 1,000.
std::vector<NsysSession> NsysSessionsIn(std::string_view list);

// The agent of a session: a process that `nsys launch` and `nsys profile` start and detach. It ends
// with its session. But if its `nsys` is killed, the agent may stay and take a whole core.
struct NsysAgent {
  int64_t pid = 0;
  std::string session;  // its name
  std::string program;  // its nsys, which knows its session; "" if it may not be read
};
// The agents of this user in this mount namespace (`nsys sessions list` does not see sessions of
// other namespaces either), ascending by pid.
std::vector<NsysAgent> NsysAgents();

// NAME, if the process or an ancestor is `nsys launch --session-new=NAME`; else "".
std::string NsysSessionAbove(int64_t pid);

// CPU time that a process has used so far, in ns; -1 if it has ended or may not be read.
int64_t CpuTimeOf(int64_t pid);

}  // namespace tacho

#include "control/nsys/nsys_sessions.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/ancestors.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "control/live/port_owner.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSessions = 1'000;
constexpr std::string_view kAgent = "--start-agent", kAgentsSession = "--session-name=";

bool IsNsys(std::string_view word) { return word.substr(word.rfind('/') + 1) == "nsys"; }

// Whether the process is an agent of nsys. Sets `session` to the name of its session.
bool IsAgent(int64_t pid, std::string& session) {
  const std::vector<std::string> words = WordsOf(pid);
  bool is_agent = false;
  for (size_t i = 1; i < words.size(); ++i) {
    is_agent |= IsNsys(words[i - 1]) && words[i] == kAgent;
    if (words[i].starts_with(kAgentsSession)) session = words[i].substr(kAgentsSession.size());
  }
  return is_agent;
}

}  // namespace

bool NsysSession::Records() const {
  return state.find("ollection") != std::string::npos || state.find("Range") != std::string::npos;
}

std::vector<NsysSession> NsysSessionsIn(std::string_view list) {
  std::vector<NsysSession> sessions;
  while (!list.empty() && sessions.size() < kMostSessions) {
    std::string_view line = TakeLine(list);
    const std::string_view id = TakeWord(line), time = TakeWord(line), state = TakeWord(line),
                           launches = TakeWord(line), name = Trim(line);
    if (name.empty() || !std::ranges::all_of(id, IsDigit) || !IsDigit(time.front()) ||
        !std::ranges::all_of(launches, IsDigit))
      continue;
    sessions.push_back({std::string(id), std::string(state), std::string(name)});
  }
  return sessions;
}

std::vector<NsysAgent> NsysAgents() {
  std::vector<NsysAgent> agents;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/proc", failed)) {
    const auto pid = ParseWhole<int64_t>(entry.path().filename().native());
    NsysAgent agent;
    struct stat owner {};
    if (!pid || !IsAgent(*pid, agent.session) || stat(entry.path().c_str(), &owner) != 0 ||
        owner.st_uid != getuid() || !SeesOurFiles(*pid))
      continue;
    agent.pid = *pid;
    agent.program = fs::read_symlink(entry.path() / "exe", failed).string();
    if (!IsNsys(agent.program)) agent.program.clear();
    agents.push_back(std::move(agent));
  }
  std::ranges::sort(agents, {}, &NsysAgent::pid);
  return agents;
}

std::string NsysSessionAbove(int64_t pid) {
  constexpr std::string_view kOption = "--session-new=";
  for (const int64_t ancestor : AncestorsOf(pid)) {
    const std::vector<std::string> words = WordsOf(ancestor);
    bool launches = false;
    for (size_t i = 1; i < words.size(); ++i) {
      launches |= words[i] == "launch" && IsNsys(words[i - 1]);
      if (launches && words[i].starts_with(kOption)) return words[i].substr(kOption.size());
      if (launches && words[i] == kOption.substr(0, kOption.size() - 1) && i + 1 < words.size())
        return words[i + 1];
    }
  }
  return "";
}

int64_t CpuTimeOf(int64_t pid) {
  std::ifstream file(fs::path("/proc") / std::to_string(pid) / "stat");
  const std::string stat((std::istreambuf_iterator<char>(file)), {});
  // Fields 14 and 15 of "PID (NAME) STATE ...". Counted from the last ')', because the name may
  // hold anything.
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return -1;
  std::istringstream fields(stat.substr(end + 1));
  std::string state, skipped;
  fields >> state;
  if (state == "Z") return -1;
  for (int field = 4; field < 14; ++field) fields >> skipped;
  int64_t user = 0, system = 0;
  fields >> user >> system;
  return fields ? (user + system) * 1'000'000'000 / sysconf(_SC_CLK_TCK) : -1;
}

}  // namespace tacho

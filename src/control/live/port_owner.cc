#include "control/live/port_owner.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/ancestors.h"
#include "base/file_descriptor.h"
#include "base/parse_number.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Adds the ports of listening sockets, by inode, from a table like /proc/net/tcp. Its columns are
// "sl local_address rem_address st ... inode", with addresses as HEX:PORT; state 0A means
// listening.
void AddListeners(const char* table, std::map<std::string, uint16_t>& ports) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, skip, inode;
    fields >> slot >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) fields >> skip;
    fields >> inode;
    size_t colon = local.rfind(':');
    if (state != "0A" || colon == std::string::npos || inode.empty()) continue;
    if (const auto port = ParseWhole<uint16_t>(local.substr(colon + 1), 16))
      ports["socket:[" + inode + "]"] = *port;
  }
}

std::map<std::string, uint16_t> Listeners() {
  std::map<std::string, uint16_t> ports;
  AddListeners("/proc/net/tcp", ports);
  AddListeners("/proc/net/tcp6", ports);
  return ports;
}

// Those of the listening `ports` that the process holds.
std::set<uint16_t> HeldBy(const fs::path& process, const std::map<std::string, uint16_t>& ports) {
  std::set<uint16_t> held;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(process / "fd", failed)) {
    const auto found = ports.find(fs::read_symlink(entry.path(), failed).string());
    if (found != ports.end()) held.insert(found->second);
  }
  return held;
}

// The words in a file of /proc. Each ends with a NUL.
std::vector<std::string> WordsOfFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(std::move(word));
  return words;
}

std::string MountsOf(const fs::path& process) {
  std::error_code failed;
  return fs::read_symlink(process / "ns/mnt", failed).string();
}

fs::path FolderOf(int64_t pid) { return "/proc/" + std::to_string(pid); }

}  // namespace

std::vector<int64_t> AllPids() {
  std::vector<int64_t> pids;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/proc", failed)) {
    if (const auto pid = ParseWhole<int64_t>(entry.path().filename().native()))
      pids.push_back(*pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

std::vector<int64_t> PidsListeningOn(uint16_t port) {
  std::map<std::string, uint16_t> listeners = Listeners();
  std::erase_if(listeners, [&](const auto& one) { return one.second != port; });
  std::vector<int64_t> pids;
  if (listeners.empty()) return pids;
  for (int64_t pid : AllPids())
    if (!HeldBy(FolderOf(pid), listeners).empty()) pids.push_back(pid);
  return pids;
}

std::vector<uint16_t> PortsOf(int64_t pid) {
  const std::set<uint16_t> held = HeldBy(FolderOf(pid), Listeners());
  return {held.begin(), held.end()};
}

bool IsFreePort(uint16_t port) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;  // like servers: ignores remains of earlier connections
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  return bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
         listen(socket.get(), 1) == 0;
}

std::vector<std::string> WordsOf(int64_t pid) { return WordsOfFile(FolderOf(pid) / "cmdline"); }
std::vector<std::string> SettingsOf(int64_t pid) { return WordsOfFile(FolderOf(pid) / "environ"); }

std::vector<int64_t> ProcessTree(const std::vector<int64_t>& roots) {
  std::vector<int64_t> tree;
  for (int64_t pid : AllPids()) {
    std::vector<int64_t> line = AncestorsOf(pid);
    line.push_back(pid);
    bool below = std::any_of(line.begin(), line.end(), [&](int64_t p) {
      return std::find(roots.begin(), roots.end(), p) != roots.end();
    });
    if (below) tree.push_back(pid);
  }
  return tree;
}

std::optional<std::string> EnvironmentOf(int64_t pid, std::string_view name) {
  std::ifstream file(FolderOf(pid) / "environ", std::ios::binary);
  std::string entry;
  while (std::getline(file, entry, '\0'))
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return std::nullopt;
}

std::optional<uint32_t> UserOf(int64_t pid) {
  std::ifstream file(FolderOf(pid) / "status");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("Uid:")) continue;
    std::istringstream words(line.substr(4));
    uint32_t real = 0, effective = 0, saved = 0, of_files = 0;
    if (words >> real >> effective >> saved >> of_files) return of_files;
  }
  return std::nullopt;
}

bool SeesOurFiles(int64_t pid) {
  const std::string theirs = MountsOf(FolderOf(pid));
  return !theirs.empty() && theirs == MountsOf("/proc/self");
}

int64_t StartTicksOf(int64_t pid) {
  std::ifstream file(FolderOf(pid) / "stat");
  std::string stat;
  std::getline(file, stat);
  // The 22nd field of "PID (NAME) STATE ...". Counted from the last ')', because the name may hold
  // anything.
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(end + 1));
  std::string state, skipped;
  fields >> state;
  if (state == "Z" || state == "X") return 0;  // ended, but its parent has not waited for it yet
  for (int field = 4; field < 22; ++field) fields >> skipped;
  int64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

}  // namespace tacho

#include "control/port_owner.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/ancestors.h"
#include "base/parse_number.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// The inodes of the sockets that listen on `port`, from a table like /proc/net/tcp: columns
// "sl local_address rem_address st ... inode", the address as HEX:PORT, state 0A for listening.
void AddListeners(const char* table, uint16_t port, std::set<std::string>& inodes) {
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
    if (ParseWhole<uint32_t>(local.substr(colon + 1), 16) == port)
      inodes.insert("socket:[" + inode + "]");
  }
}

bool OwnsOne(const fs::path& process, const std::set<std::string>& inodes) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(process / "fd", failed)) {
    std::string target = fs::read_symlink(entry.path(), failed).string();
    if (inodes.contains(target)) return true;
  }
  return false;
}

// Every process of this host, ascending.
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

fs::path FolderOf(int64_t pid) { return "/proc/" + std::to_string(pid); }

}  // namespace

std::vector<int64_t> PidsListeningOn(uint16_t port) {
  std::set<std::string> inodes;
  AddListeners("/proc/net/tcp", port, inodes);
  AddListeners("/proc/net/tcp6", port, inodes);
  std::vector<int64_t> pids;
  if (inodes.empty()) return pids;
  for (int64_t pid : AllPids())
    if (OwnsOne(FolderOf(pid), inodes)) pids.push_back(pid);
  return pids;
}

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

int64_t StartTicksOf(int64_t pid) {
  std::ifstream file(FolderOf(pid) / "stat");
  std::string stat;
  std::getline(file, stat);
  // The 22nd field of "PID (NAME) STATE ...": the name may hold anything.
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  int64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

}  // namespace tacho

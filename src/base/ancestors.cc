#include "base/ancestors.h"

#include <fstream>
#include <sstream>
#include <string>

namespace tacho {

std::vector<int64_t> AncestorsOf(int64_t pid) {
  std::vector<int64_t> ancestors;
  while (pid > 1 && ancestors.size() < 256) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string stat;
    std::getline(file, stat);
    // The line is "PID (NAME) STATE PPID ...". The name may contain anything, so fields are counted
    // from the last ')'.
    size_t end = stat.rfind(')');
    if (end == std::string::npos) break;
    std::istringstream fields(stat.substr(end + 1));
    std::string state;
    int64_t parent = 0;
    fields >> state >> parent;
    if (parent <= 0) break;
    ancestors.push_back(parent);
    pid = parent;
  }
  return ancestors;
}

}  // namespace tacho

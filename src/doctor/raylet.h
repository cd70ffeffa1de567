#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The process that starts the workers of a Ray node on this host, under nsys if they have "nsight"
// in their runtime_env.
struct Raylet {
  int64_t pid = 0;
  std::string session = {};  // the folder of the running session
  std::string version = {};  // of Ray: "2.60.0"; "": not known
  std::string python = {};   // the program that runs Ray's workers; "": not known
  std::string path = {};     // $PATH, where Ray looks for nsys and for "python"
  std::optional<std::string> group_cleanup = {};  // $RAY_process_group_cleanup_enabled
  std::string cannot = {};  // why the fields after `session` are not known; "" if they are

  // Where Ray lets nsys put its reports.
  [[nodiscard]] std::string ReportFolder() const { return session + "/logs/nsight"; }
};
// What the command line of a raylet and its environment ("NAME=value") say, without pid and
// version. nullopt: it is the command line of another program.
std::optional<Raylet> RayletOf(const std::vector<std::string>& words,
                               const std::vector<std::string>& settings);
// Those of this host, ascending by pid, at most 16. Looks at every process.
std::vector<Raylet> RayletsHere();

// Whether Ray kills the process group of a worker as soon as the worker has ended. A node of an
// unknown version counts as a new one.
bool KillsGroups(const Raylet& raylet);

// A process of nsys that records a worker, or writes its report, into a folder.
struct NsysRun {
  int64_t pid = 0;
  bool records = false;  // a worker of Ray runs under it
  // Whether such a worker is in its process group: that is the group that Ray kills.
  bool shares_group = false;
};
// Those whose command lines name something in `folder`, ascending by pid. Looks at every process.
std::vector<NsysRun> NsysRunsInto(const std::string& folder);

// The reports of nsys in a folder.
struct ReportFolder {
  size_t whole = 0;
  std::vector<std::string> damaged;  // "NAME is empty", "NAME has no end", by name
  // Paths of raw recordings (.qdstrm) that no whole report was made of, by name.
  std::vector<std::string> raw;
  bool all = true;  // whether all of its files were looked at: at most 4,096 are
};
// Reads the first and the last bytes of each file. Leaves out files that may not be read, and
// "empty.*", which Ray makes for a trial. nullopt: there is no such folder, or it may not be read.
std::optional<ReportFolder> ReportsIn(const std::string& folder);

}  // namespace tacho

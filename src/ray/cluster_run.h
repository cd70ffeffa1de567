#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "ray/job_api.h"

namespace tacho {

// How long ClusterRun waits. Ray finds out after 65 s that a node hangs or lost its cable.
struct ClusterPatience {
  std::chrono::milliseconds between{250};       // two looks at the jobs
  std::chrono::milliseconds to_start{180'000};  // a job, with what Ray sets up for it
  std::chrono::milliseconds silence{90'000};    // of the API about a job: its state, or its log
  std::chrono::milliseconds to_clear{30'000};
  // A node whose job was lost, and that Ray calls alive all the same.
  std::chrono::milliseconds to_clear_lost{8'000};
  std::chrono::milliseconds to_look{1600};  // Ray, at jobs that have ended
};

// The jobs that tacho runs on the nodes of a cluster; on each node one command at a time. Each gets
// the same folder for its files in the log folder of its node, from where they can be read. A job
// stays until it is stopped (node_job.h). Clear, or the destructor, stops the jobs, has the folders
// removed, and makes the cluster forget all jobs.
class ClusterRun {
 public:
  // `package`: the hash of the program's package. Both references must outlive it.
  ClusterRun(const JobApi& api, const std::vector<RayNode>& nodes, std::string package,
             const ClusterPatience& patience = {});
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;
  ~ClusterRun();

  // The folder of this run on a node.
  [[nodiscard]] std::string FolderOn(size_t node) const;

  // Runs a command on each of the nodes, by their indexes, and waits for all. `ended` is called
  // with those that one look found at their end: the exit status, or why the job was lost (kRemote,
  // with the node's name). kInterrupted: `stop` was requested; jobs may still run.
  using Ends = std::map<size_t, Result<int>>;
  using Ended = std::function<void(const Ends&)>;
  Result<void> Run(const std::string& what, const std::map<size_t, std::string>& commands,
                   const Ended& ended, const std::stop_token& stop);
  // Begins to remove the folders of nodes that are not needed any more.
  void BeginToClear(const std::vector<size_t>& nodes);
  // Returns what could not be ended or removed, as sentences.
  std::vector<std::string> Clear();

  // A file in the folder of a node.
  Result<std::string> Read(size_t node, const std::string& name, uint64_t most,
                           const std::stop_token& stop) const;
  // The same file of several nodes, given to `take` one by one. At most 8 are in memory.
  using TakeText = std::function<void(size_t node, const Result<std::string>& text)>;
  void ReadEach(const std::vector<size_t>& nodes, const std::string& name, uint64_t most,
                const std::stop_token& stop, const TakeText& take) const;
  // The file in pieces (JobApi::StreamLog).
  Result<void> Stream(size_t node, const std::string& name, const JobApi::Take& take,
                      const std::stop_token& stop) const;
  // The end of what the node's last job printed, on one line; "" if it is unknown.
  [[nodiscard]] std::string LastWords(size_t node) const;

  // An error about a node, by its name and address.
  [[nodiscard]] Error ErrorOn(size_t node, const std::string& what) const;

 private:
  struct Job {
    std::string id;
    size_t node = 0;
    std::chrono::steady_clock::time_point submitted, answered;
    std::string refused;  // why the request to start it failed; it may run all the same
    bool ended = false;   // no longer waited for
    bool over = false;    // it does not run
  };
  // Starts jobs. Look finds those that could not be started.
  std::vector<Job*> Start(const std::string& what, const std::map<size_t, std::string>& commands);
  // Looks once at the jobs that have not ended.
  void Look(const std::vector<Job*>& jobs, const Ended& ended, const std::stop_token& stop);
  Result<int> EndOf(const Job& job, const JobState& state) const;
  // Why a job is no longer waited for; "": wait.
  std::string WhyGivenUp(const Job& job, const Result<JobState>& state,
                         const Result<std::string>& log) const;
  // By job: what it printed; "" if it does not run.
  std::vector<Result<std::string>> LogsOfRunning(const std::vector<std::string>& ids,
                                                 const std::vector<Result<JobState>>& states,
                                                 const std::stop_token& stop) const;
  // Whether what began at `since` on the node of a job is still waited for.
  bool IsPatient(const Job& job, std::chrono::steady_clock::time_point since) const;
  void StopJobs(std::vector<std::string>& left);
  void FindDead();
  void FindFolders();
  std::string NameOf(const std::string& what, size_t node) const;
  std::string ClearCommand(size_t node) const;
  void Forget();

  const JobApi& api_;
  const std::vector<RayNode>& nodes_;
  const std::string package_, name_;
  const ClusterPatience patience_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::set<size_t> with_folder_;  // nodes that may have the folder
  std::set<size_t> lost_;         // nodes whose job was lost, as when a node dies
  std::set<size_t> dead_;         // those of them that are dead, as Ray says
};

// The error, with sentences about what was left on the nodes.
Error WithLeft(Error error, const std::vector<std::string>& left);

}  // namespace tacho

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"
#include "net/url.h"

namespace tacho {

// A node of a Ray cluster.
struct RayNode {
  std::string id;       // Ray's
  std::string name;     // its host name; with its address if several nodes have this host name
  std::string ip;       // the address by which Ray names it
  std::string session;  // the folder of Ray's session there; SESSION/logs has its log files
  std::optional<uint64_t> free_disk;  // where `session` is, in bytes
  size_t cores = 0;                   // 0: unknown
  bool alive = true;
};

struct RayActor {
  std::string id;          // Ray's
  std::string class_name;  // "VLLMEngine"
  std::string node_id;
};

struct JobOrder {
  std::string id;  // distinct in the cluster
  std::string ip;  // of the node where it runs
  std::string command;
};

struct JobState {
  bool started = false, ended = false;
  bool known = true;               // false: the cluster knows no such job
  std::optional<int> exit_status;  // of its command, once that has ended by itself
  std::string message;             // Ray's words about its end
  bool node_died = false;          // that is why it ended, as Ray says
};

// How the error begins if Connect finds no Ray.
inline constexpr std::string_view kNoDashboard = "no dashboard of Ray answers";

// The HTTP API of a cluster's dashboard (Ray 2.44 and later), as far as tacho uses it. All
// functions fail with kRemote, or with kInterrupted if `stop` was requested. The token is in no
// error.
//
// A function for several nodes or jobs asks for all at the same time.
class JobApi {
 public:
  // Finds out within 5 s whether Ray answers at `address`, and takes the token.
  static Result<JobApi> Connect(const Url& address, const std::string& token, std::stop_token stop);

  // Sorted by name. Dead nodes are listed if no living node has their address.
  Result<std::vector<RayNode>> Nodes(const std::stop_token& stop) const;

  // A package is a zip that the cluster keeps; jobs run in a folder with its files. It is named by
  // a hash of its content. A package that no job uses is dropped after 10 minutes.
  Result<bool> HasPackage(const std::string& hash, const std::stop_token& stop) const;
  Result<void> PutPackage(const std::string& hash, std::string zip,
                          const std::stop_token& stop) const;

  // Starts jobs in the package; none waits for free CPUs. It is not interrupted, so that it is
  // known which jobs there are.
  std::vector<Result<void>> Submit(const std::vector<JobOrder>& jobs,
                                   const std::string& hash) const;
  // A job that the cluster does not know has ended.
  std::vector<Result<JobState>> StatesOf(const std::vector<std::string>& ids,
                                         const std::stop_token& stop) const;
  // What jobs printed, at most the last 4 kB of each. kRemote also if it is more than 1 MB, or does
  // not come within 5 s.
  std::vector<Result<std::string>> LogsOf(const std::vector<std::string>& ids,
                                          const std::stop_token& stop) const;
  // Ends jobs: their processes get SIGTERM, and SIGKILL 3 s later. Does not wait for that.
  void Stop(const std::vector<std::string>& ids) const;
  // Whether SESSION/logs of each node has a file or folder of this name.
  std::vector<Result<bool>> HaveLog(const std::vector<std::string>& node_ids,
                                    const std::string& name) const;
  // Makes the cluster forget jobs that have ended.
  void Delete(const std::vector<std::string>& ids) const;

  // A file below SESSION/logs of a node. kRemote also if it has more than `most` bytes.
  Result<std::string> ReadLog(const RayNode& node, const std::string& name, uint64_t most,
                              const std::stop_token& stop) const;
  // The file of this name on each of several nodes, by Ray's ids of these.
  std::vector<Result<std::string>> ReadLogs(const std::vector<std::string>& node_ids,
                                            const std::string& name, uint64_t most,
                                            const std::stop_token& stop) const;

  // Those that live, at most 10,000.
  Result<std::vector<RayActor>> Actors(const std::stop_token& stop) const;
  // Takes a piece of a file, on the client's own thread. False: the rest is not wanted.
  using Take = std::function<bool(std::string_view)>;
  // The same file as ReadLog, in pieces. An end without an error does not prove that all came.
  Result<void> StreamLog(const RayNode& node, const std::string& name, const Take& take,
                         const std::stop_token& stop) const;
  // What an actor and its child processes wrote to standard error, from the beginning.
  Result<void> StreamErrors(const RayActor& actor, const Take& take,
                            const std::stop_token& stop) const;

 private:
  JobApi(Url address, std::unique_ptr<HttpClient> client)
      : address_(std::move(address)), client_(std::move(client)) {}
  HttpRequest Ask(std::string method, const std::string& route, std::string body = {}) const;
  Result<HttpResponse> Fetch(const HttpRequest& request, const std::stop_token& stop) const;
  HttpRequest LogRequest(const std::string& which) const;
  Result<void> Stream(HttpRequest request, const Take& take, const std::stop_token& stop) const;
  // The error of an answer that is no success.
  Result<void> CheckAnswer(const Result<HttpResponse>& answer) const;
  void ForEach(const std::string& method, const std::vector<std::string>& ids,
               const std::string& after) const;

  Url address_;
  std::unique_ptr<HttpClient> client_;
};

}  // namespace tacho

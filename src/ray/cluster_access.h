#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "net/url.h"
#include "ray/job_api.h"
#include "ray/python_driver.h"
#include "ray/static_program.h"

namespace tacho {

// A Ray cluster, and what runs on its nodes.
struct ClusterAccess {
  Url address;
  // The cluster's address for drivers in Python, for a cluster without a dashboard; absent:
  // unknown.
  std::optional<std::string> drivers = {};
  std::string token;
  StaticProgram program;
};
// `ray` and `ray_program`: the values of the options of these names. kUsage: what is wrong.
Result<ClusterAccess> ClusterAt(const std::string& ray,
                                const std::optional<std::string>& ray_program);

using SayNow = std::function<void(const std::string&)>;

// The job API of a cluster: of its dashboard, or without one, of a driver in Python. The driver
// ends with it.
class ClusterConnection {
 public:
  // A host that was silent for seconds is not asked for a driver.
  static Result<ClusterConnection> Open(const ClusterAccess& access, const SayNow& say,
                                        const std::stop_token& stop);

  [[nodiscard]] const JobApi& api() const { return api_; }

 private:
  ClusterConnection(std::optional<PythonDriver> driver, JobApi api)
      : driver_(std::move(driver)), api_(std::move(api)) {}

  std::optional<PythonDriver> driver_;
  JobApi api_;
};

// Sends the program to the cluster, if it is not there.
Result<void> SendProgram(const JobApi& api, const StaticProgram& program, const SayNow& say,
                         const std::stop_token& stop);

}  // namespace tacho

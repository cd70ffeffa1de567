#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/subprocess.h"
#include "base/temporary_folder.h"
#include "net/url.h"
#include "ray/static_program.h"

namespace tacho {

// The job API of a cluster that has no dashboard, as Ray has none if installed without [default]: a
// driver in Python (driver.py) that answers on this host, and does the jobs by one actor on each
// node. It needs a python3 on PATH with the cluster's version of Ray, on a node of the cluster. The
// destructor ends it.
class PythonDriver {
 public:
  // `cluster`: "HEAD:6379", or "auto" for the cluster of this host. kRemote: python3 or Ray failed,
  // with the last line that they said. kInterrupted: `stop` was requested.
  static Result<PythonDriver> Start(const std::string& cluster, const StaticProgram& program,
                                    const std::stop_token& stop);

  [[nodiscard]] const Url& address() const { return address_; }
  [[nodiscard]] const std::string& key() const { return key_; }  // its token

 private:
  PythonDriver(TemporaryFolder folder, Subprocess process, Url address, std::string key)
      : folder_(std::move(folder)),
        process_(std::move(process)),
        address_(std::move(address)),
        key_(std::move(key)) {}

  TemporaryFolder folder_;
  Subprocess process_;
  Url address_;
  std::string key_;
};

}  // namespace tacho

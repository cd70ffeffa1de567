#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "load/drive/drive.h"
#include "load/plan/dataset.h"
#include "load/result/bench_result.h"
#include "load/result/slo.h"
#include "load/result/sweep.h"
#include "net/http_client.h"

namespace tacho {

// A load as its options describe it, before anything is known about the servers.
struct LoadJob {
  PlanOptions plan;
  std::optional<std::string> dataset_path;
  DatasetOptions dataset;
  DriveTarget target;  // valid for all servers, except for its url
  std::vector<std::string> urls;
  HttpClientOptions http;
  DriveOptions drive;
  BenchIdentity identity;
  BenchMetrics metrics;
  std::vector<Slo> slos;
  uint64_t warmups = 0;
  std::chrono::milliseconds ready_timeout{0};
  std::chrono::milliseconds flush_timeout{0};  // for a recording's flush; 0: unlimited
  Sweep sweep;
  std::vector<std::string> remarks;  // what the user should be told
};

}  // namespace tacho

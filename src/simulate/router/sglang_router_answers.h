#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/router/upstream.h"

namespace tacho::simulate {

// sglang-router's answers about its workers.

// A worker's id in the form in which the router shows it.
std::string UuidOf(const Upstream& upstream);
// GET /workers/{id}. `failure`: the error of the last order about the worker, or "".
std::string WorkerJson(const Upstream& upstream, const std::string& failure, int64_t now_s);
std::string WorkersJson(const std::vector<Upstream>& upstreams);  // GET /workers
std::string LoadsJson(const std::vector<Upstream>& upstreams);    // GET /get_loads
std::string ModelsJson(const std::vector<Upstream>& upstreams);   // GET /v1/models

}  // namespace tacho::simulate

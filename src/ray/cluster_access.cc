#include "ray/cluster_access.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "io/zip_file.h"
#include "ray/ray_access.h"
#include "text/visible_text.h"

namespace tacho {

Result<ClusterAccess> ClusterAt(const std::string& ray,
                                const std::optional<std::string>& ray_program) {
  ClusterAccess cluster;
  TACHO_ASSIGN_OR_RETURN(cluster.address, RayAddress(ray));
  cluster.drivers = DriversAddress(ray);
  TACHO_ASSIGN_OR_RETURN(cluster.token, RayToken());
  TACHO_ASSIGN_OR_RETURN(cluster.program, FindStaticProgram(ray_program));
  return cluster;
}

Result<ClusterConnection> ClusterConnection::Open(const ClusterAccess& access, const SayNow& say,
                                                  const std::stop_token& stop) {
  constexpr std::chrono::seconds kAtOnce{2};
  const auto began = std::chrono::steady_clock::now();
  auto api = JobApi::Connect(access.address, access.token, stop);
  if (api) return ClusterConnection({}, *std::move(api));
  if (!access.drivers || !api.error().message.starts_with(kNoDashboard) ||
      std::chrono::steady_clock::now() - began > kAtOnce)
    return tl::unexpected<Error>(api.error());
  say("starting a driver of Ray, as there is no dashboard");
  auto started = PythonDriver::Start(*access.drivers, access.program, stop);
  if (!started && started.error().kind == ErrorKind::kInterrupted)
    return tl::unexpected<Error>(started.error());
  if (!started) {
    return Fail(started.error().kind,
                fmt::format("{}; nor does a driver of Ray start here, for a cluster without a "
                            "dashboard: {}",
                            api.error().message, VisibleText(started.error().message)));
  }
  TACHO_ASSIGN_OR_RETURN(auto of_driver, JobApi::Connect(started->address(), started->key(), stop));
  return ClusterConnection(*std::move(started), std::move(of_driver));
}

Result<void> SendProgram(const JobApi& api, const StaticProgram& program, const SayNow& say,
                         const std::stop_token& stop) {
  TACHO_ASSIGN_OR_RETURN(const bool is_there, api.HasPackage(program.hash, stop));
  if (is_there) return {};
  say("sending the program, once for this cluster");
  TACHO_ASSIGN_OR_RETURN(auto zip, ZipProgram("tacho", program.bytes));
  return api.PutPackage(program.hash, std::move(zip), stop);
}

}  // namespace tacho

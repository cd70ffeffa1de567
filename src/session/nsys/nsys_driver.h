#pragma once

#include <vector>

#include "control/nsys/nsys_control.h"
#include "session/driver.h"

namespace tacho {

// Records with Nsight Systems; the engines must have been launched under it (NsysCollection).
class NsysDriver final : public Driver {
 public:
  // Fails if there is no nsys on this host.
  static Result<std::unique_ptr<Driver>> Make(const RecordOptions& options,
                                              const std::stop_token& stop);
  NsysDriver(const RecordOptions& options, NsysControl nsys, std::vector<NsysSession> sessions)
      : options_(options), nsys_(std::move(nsys)), sessions_(std::move(sessions)) {}
  [[nodiscard]] Via via() const override { return Via::kNsys; }
  [[nodiscard]] std::string Name() const override { return "nsys " + nsys_.version(); }
  [[nodiscard]] std::string WhyNoOverhead() const override {
    return "--overhead measures the engines' own profilers, not nsys: leave out --via nsys";
  }
  Checked<void> Check(RecordedWorker& worker, const std::string& folder_in_run,
                      std::vector<Finding>& findings, const std::stop_token& stop) override;
  std::unique_ptr<DriverWindow> Open(HttpClient& client, RecordObserver& observer,
                                     Recording& recording) override;

 private:
  const RecordOptions& options_;
  NsysControl nsys_;
  std::vector<NsysSession> sessions_;  // the sessions on this host before the recording
};

}  // namespace tacho

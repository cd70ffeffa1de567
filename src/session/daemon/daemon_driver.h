#pragma once

#include "session/driver.h"

namespace tacho {

// Records by Kineto's daemon protocol: tacho plays the daemon for the engines' processes on this
// host (DaemonSession).
class DaemonDriver final : public Driver {
 public:
  explicit DaemonDriver(const RecordOptions& options) : options_(options) {}
  [[nodiscard]] Via via() const override { return Via::kDaemon; }
  [[nodiscard]] std::string Name() const override { return "Kineto's daemon"; }
  [[nodiscard]] std::string WhyNoOverhead() const override {
    return "by Kineto's daemon no window can be ended when it should: --overhead needs engines "
           "whose profilers start and stop by HTTP";
  }
  Checked<void> Check(RecordedWorker& worker, const std::string& folder_in_run,
                      std::vector<Finding>& findings, const std::stop_token& stop) override;
  std::unique_ptr<DriverWindow> Open(HttpClient& client, RecordObserver& observer,
                                     Recording& recording) override;

 private:
  const RecordOptions& options_;
};

}  // namespace tacho

#pragma once

#include "session/driver.h"

namespace tacho {

// Records with the engines' own profilers, by their HTTP API (ProfilerSession).
class HttpDriver final : public Driver {
 public:
  explicit HttpDriver(const RecordOptions& options) : options_(options) {}
  [[nodiscard]] Via via() const override { return Via::kHttp; }
  [[nodiscard]] std::string Name() const override { return "HTTP"; }
  [[nodiscard]] bool EndsOldSessions(const EngineFacts& facts) const override;
  Checked<void> Check(RecordedWorker& worker, const std::string& folder_in_run,
                      std::vector<Finding>& findings, const std::stop_token& stop) override;
  std::unique_ptr<DriverWindow> Open(HttpClient& client, RecordObserver& observer,
                                     Recording& recording) override;

 private:
  const RecordOptions& options_;
};

}  // namespace tacho

#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "control/nsys/nsys_control.h"
#include "session/driver.h"

namespace tacho {

// One window recorded by Nsight Systems. Starts a collection in each nsys session that has workers,
// in all sessions at the same time. The reports go into traces/ of the run folder. tacho sends the
// engines nothing. Problems go into the workers' expectations and into the recording's findings.
class NsysCollection final : public DriverWindow {
 public:
  // All arguments must outlive it.
  NsysCollection(const NsysControl& nsys, const RecordOptions& options, RecordObserver& observer,
                 Recording& recording);

  // Cannot be interrupted: a start that is cut short may still take effect.
  bool Start(std::stop_token stop) override;
  // The stop of nsys takes seconds; meanwhile engines go on taking steps.
  [[nodiscard]] bool EndsWithItsStop() const override { return true; }
  // nsys writes the reports during this call.
  void Stop(const std::function<void()>& on_the_way, std::stop_token stop,
            const OnLate& on_late) override;
  // Waits until the reports are whole, and writes an export beside each. A Ctrl-C before this call
  // has no effect; a later one ends the export that is running, and its report is kept.
  void Collect(std::stop_token stop) override;

 private:
  struct Use {
    std::vector<size_t> workers;
    std::string report;  // its path without the ending
    bool records = false;
    std::string stop_failed;  // nsys's error message
  };
  using Sessions = std::map<std::string, Use>;

  Result<void> StartOne(const std::string& session, const Use& use) const;
  void FailAll(const Use& use, const Finding& trouble);
  void SayWhatIsLeft();
  [[nodiscard]] int64_t PatienceNs() const;
  // The report, or the raw recording that nsys left instead; "" if there is neither.
  [[nodiscard]] std::string AwaitReport(const Use& use) const;
  void CollectOne(const std::string& session, const Use& use, const std::stop_token& stop);
  [[nodiscard]] Finding WhyNotExported(const std::string& file, const Error& error) const;

  const NsysControl& nsys_;
  Sessions sessions_;  // by the session's name
};

}  // namespace tacho

#pragma once

#include <map>
#include <vector>

#include "base/clock_pair.h"
#include "control/daemon/kineto_daemon.h"
#include "load/result/records.h"

namespace tacho {

// Reports the processes that a test sets, and remembers what Request asked for.
class FakeDaemonForTest final : public KinetoDaemon {
 public:
  std::vector<DaemonProcess> Processes() const override { return processes; }
  void Request(const std::map<int64_t, DaemonTrace>& traces) override { asked = traces; }
  std::vector<int64_t> Withdraw() override { return {}; }
  int64_t AllToldByUnixMs(const std::vector<int64_t>&) const override {
    return ReadClocks().unix_ns / 1'000'000;
  }

  std::vector<DaemonProcess> processes;
  std::map<int64_t, DaemonTrace> asked;
};

}  // namespace tacho

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "control/daemon/kineto_daemon.h"
#include "session/daemon/daemon_folder.h"
#include "session/daemon/daemon_round.h"
#include "session/driver.h"

namespace tacho {

// One window by Kineto's daemon protocol, in the processes of all workers at the same time. If some
// processes got the request too late, there is a second window.
//
// The protocol has no stop: a process carries out every request that it has read. So the window's
// end is fixed when it starts. When `stop` is requested, the session withdraws the request from
// processes that have not read it yet, and waits for the windows and files of the others.
class DaemonSession final : public DriverWindow {
 public:
  using DriverWindow::DriverWindow;
  // Waits until the processes poll the daemon, and answers them with the request. Returns false if
  // no process gets it.
  bool Start(std::stop_token stop) override;
  [[nodiscard]] bool EndsItself() const override { return true; }
  // Waits until the window is over and the files no longer grow.
  void Stop(const std::function<void()>& on_the_way, std::stop_token stop,
            const OnLate& on_late) override;
  void Collect(std::stop_token stop) override;

 private:
  DaemonRound::Askers AskersOf() const;
  DaemonRound::Askers Meet();
  void Ask(const std::string& stem, int64_t lead_ms);
  void TellOfRound();
  std::vector<int64_t> Late() const { return round_.Late(*daemon_, round_.Files()); }
  bool MayTryAgain() const;
  void TryAgain();
  void RemarkAgain(std::string text);
  void SayWhatIsLeft() const;
  bool Interrupt();
  void WaitForTheFiles();
  void SayWhoDied(int64_t now);
  std::string FilesText(int64_t now, size_t whole, uint64_t bytes) const;
  std::vector<RecordedWorker>& workers() { return recording_.workers; }
  [[nodiscard]] const std::vector<RecordedWorker>& workers() const { return recording_.workers; }

  std::stop_token stop_;
  DaemonWindow window_;
  std::unique_ptr<KinetoDaemon> daemon_;
  DaemonRound::Askers askers_;
  std::map<size_t, DaemonFolder> folders_;  // by the worker's index
  DaemonRound round_;
  // Set in a second window: the number of traces that the first one gave.
  std::optional<size_t> to_surpass_;
  std::set<size_t> said_dead_;
  std::function<void()> on_interrupt_;
  bool interrupted_ = false;
};

}  // namespace tacho

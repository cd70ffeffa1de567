#include "simulate/trace/recorder_loss.h"

namespace tacho::simulate {

RecorderLoss LossOf(const Faults& faults, int64_t worker, int64_t session) {
  RecorderLoss loss;
  loss.first = faults.Amount(FaultKind::kLoseFirst, worker) * session;
  loss.replays_kept = faults.Amount(FaultKind::kLoseReplays, worker);
  loss.stops_early_ns = faults.Amount(FaultKind::kRecorderStops, worker);
  loss.skew_ns = faults.Amount(FaultKind::kDeviceSkew, worker);
  loss.drift_ppm = static_cast<double>(faults.Amount(FaultKind::kDeviceDrift, worker));
  return loss;
}

}  // namespace tacho::simulate

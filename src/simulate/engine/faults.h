#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho::simulate {

enum class FaultKind : uint8_t {
  kSlowStart,   // the profiler begins late, and /start_profile answers only then
  kStall,       // after its profiler's first start the engine takes no step for this long
  kSlowFlush,   // writing a trace takes this long; the file grows meanwhile
  kSlowTable,   // making the table that vLLM writes after a trace takes this long per step
  kHangStart,   // /start_profile never answers
  kHangStop,    // /stop_profile never answers, and nothing is written
  kErrorStart,  // /start_profile answers 500
  kErrorStop,   // /stop_profile answers 500, but the trace is written
  kNotFound,    // the profiler is not configured: 404
  kLoseRank,    // one rank's trace never appears
  kMuteRank,    // the process of one rank never asks Kineto's daemon
  // A worker's processes get each daemon answer only this many questions later.
  kLateAnswers,
  kNewTorch,       // a worker's processes have Kineto of torch 2.14, whatever their version
  kTruncate,       // traces end in the middle
  kSilentSecond,   // the second session answers 200 and writes nothing
  kClockSkew,      // the machine's clock is wrong by this much
  kClockDrift,     // the machine's clock runs too fast by this much
  kDieInFlush,     // the engine dies while it writes its trace
  kDieInLoad,      // the engine dies after this many steps
  kDiskFull,       // no space left on the device
  kErrorInStream,  // every Nth answer is a stream with status 200 that ends in an error
  kUnhealthy,      // /health answers 503
  // These lose or falsify parts of the profiler's records (trace/recorder_loss.h).
  // Session N loses the first N times this many pieces of its device work.
  kLoseFirst,
  kLoseReplays,  // only every Nth graph replay keeps its device work
  // The recording of calls and device work stops this long before the window ends.
  kRecorderStops,
  kDeviceSkew,   // the device's clock differs from the host's by this much
  kDeviceDrift,  // the device's clock runs too fast by this much
  kCount,
};

// One fault, written KIND[@WORKER][:ARGUMENT] in --fault.
struct Fault {
  FaultKind kind = FaultKind::kCount;
  std::optional<int64_t> worker;  // absent: all workers
  int64_t amount = 0;             // nanoseconds, parts per million, a rank or a count
};

// One kind of fault, as --help lists it.
struct FaultRow {
  FaultKind kind;
  std::string_view name;
  std::string_view argument;  // "TIME", "RANK", "COUNT", "PPM" or ""
  std::string_view fallback;  // value if the argument is missing
  std::string_view help;
};
const std::vector<FaultRow>& FaultRows();

// kUsage: the error says what is wrong and lists the known kinds.
Result<Fault> ParseFault(std::string_view text);
std::string TextOf(const Fault& fault);
// A random fault for one of `workers` workers; the same seed gives the same fault.
Fault RandomFault(uint64_t seed, int64_t workers);

class Faults {
 public:
  Faults() = default;
  explicit Faults(std::vector<Fault> list) : list_(std::move(list)) {}

  // The worker's first fault of this kind; nullptr if it has none.
  const Fault* Find(FaultKind kind, int64_t worker) const;
  bool Has(FaultKind kind, int64_t worker) const { return Find(kind, worker) != nullptr; }
  // The amount of that fault; `otherwise` if there is none.
  int64_t Amount(FaultKind kind, int64_t worker, int64_t otherwise = 0) const;
  // Whether the fault strikes the nth time: an amount of N means every Nth time.
  bool Strikes(FaultKind kind, int64_t worker, uint64_t nth) const;

 private:
  std::vector<Fault> list_;
};

// Parses "5s", "300ms", "20us" or "7ns" to nanoseconds.
Result<int64_t> ParseTime(std::string_view text);

}  // namespace tacho::simulate

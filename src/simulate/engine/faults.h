#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho::simulate {

enum class FaultKind : uint8_t {
  kSlowStart,      // the profiler begins late, and only then /start_profile answers
  kStall,          // after its profiler's first start the engine takes no step for so long
  kSlowFlush,      // writing a trace takes this long, and the file grows meanwhile
  kSlowTable,      // vLLM's table after the trace takes this long per step
  kHangStart,      // /start_profile never answers
  kHangStop,       // /stop_profile never answers, nothing is written
  kErrorStart,     // /start_profile answers 500
  kErrorStop,      // /stop_profile answers 500, though the trace is written
  kNotFound,       // the profiler is not configured: 404
  kLoseRank,       // one rank's trace never appears
  kMuteRank,       // the process of one rank never asks Kineto's daemon
  kLateAnswers,    // a worker's processes find their daemon's answers this many questions late
  kNewTorch,       // a worker's processes have the Kineto of torch 2.14, whatever its version
  kTruncate,       // traces end in the middle
  kSilentSecond,   // the second session answers 200 and writes nothing
  kClockSkew,      // the machine's clock is wrong by this
  kClockDrift,     // and runs too fast
  kDieInFlush,     // the engine dies while it writes its trace
  kDieInLoad,      // the engine dies after this many steps
  kDiskFull,       // no space left on the device
  kErrorInStream,  // every Nth answer ends in an error inside its 200 stream
  kUnhealthy,      // /health says 503
  // Losses in the profiler's records (trace/recorder_loss.h).
  kLoseFirst,      // session N loses the first pieces of its device work: N times this many
  kLoseReplays,    // all graph replays except every Nth lose their device work
  kRecorderStops,  // calls and device work are recorded until this long before the window ends
  kDeviceSkew,     // the device's clock differs from the host's by this
  kDeviceDrift,    // and runs too fast
  kCount,
};

// One fault, as in --fault: KIND[@WORKER][:ARGUMENT].
struct Fault {
  FaultKind kind = FaultKind::kCount;
  std::optional<int64_t> worker;  // absent: all of them
  int64_t amount = 0;             // nanoseconds, parts in a million, a rank or a count
};

// A kind in --help.
struct FaultRow {
  FaultKind kind;
  std::string_view name;
  std::string_view argument;  // "TIME", "RANK", "COUNT", "PPM" or ""
  std::string_view fallback;  // of the argument
  std::string_view help;
};
const std::vector<FaultRow>& FaultRows();

// kUsage with what is wrong and the known kinds.
Result<Fault> ParseFault(std::string_view text);
std::string TextOf(const Fault& fault);
// A random fault for one of `workers`; the same seed gives the same one.
Fault RandomFault(uint64_t seed, int64_t workers);

class Faults {
 public:
  Faults() = default;
  explicit Faults(std::vector<Fault> list) : list_(std::move(list)) {}

  // The first fault of that kind for that worker; nullptr if it has none.
  const Fault* Find(FaultKind kind, int64_t worker) const;
  bool Has(FaultKind kind, int64_t worker) const { return Find(kind, worker) != nullptr; }
  // The amount of the fault; `otherwise` without it.
  int64_t Amount(FaultKind kind, int64_t worker, int64_t otherwise = 0) const;
  // Whether it strikes the nth time: its amount N means every Nth time.
  bool Strikes(FaultKind kind, int64_t worker, uint64_t nth) const;

 private:
  std::vector<Fault> list_;
};

// "5s", "300ms", "20us", "7ns": a time in nanoseconds.
Result<int64_t> ParseTime(std::string_view text);

}  // namespace tacho::simulate

#include "simulate/engine/faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "base/random.h"

namespace tacho::simulate {
namespace {

Result<int64_t> ParseAmount(std::string_view text) {
  if (const auto value = ParseWhole<int64_t>(text)) return *value;
  return Fail(ErrorKind::kUsage, fmt::format("'{}' is not a whole number", text));
}

std::string KnownKinds() {
  std::string names;
  for (const FaultRow& row : FaultRows()) {
    names += names.empty() ? "" : ", ";
    names += row.name;
  }
  return names;
}

}  // namespace

const std::vector<FaultRow>& FaultRows() {
  static const std::vector<FaultRow> rows = {
      {FaultKind::kSlowStart, "slow-start", "TIME", "2s", "a profiler begins late"},
      {FaultKind::kStall, "stall", "TIME", "10s",
       "after its profiler's first start an engine takes no step for so long"},
      {FaultKind::kSlowFlush, "slow-flush", "TIME", "5s", "a trace takes so long to write"},
      {FaultKind::kSlowTable, "slow-table", "TIME", "50ms",
       "vLLM's table takes so long for each step"},
      {FaultKind::kHangStart, "hang-start", "", "", "/start_profile never answers"},
      {FaultKind::kHangStop, "hang-stop", "", "", "/stop_profile never answers"},
      {FaultKind::kErrorStart, "error-500-start", "", "", "/start_profile answers 500"},
      {FaultKind::kErrorStop, "error-500-stop", "", "", "/stop_profile answers 500"},
      {FaultKind::kNotFound, "not-found", "", "", "no profiler configured: 404"},
      {FaultKind::kLoseRank, "lose-rank", "RANK", "0", "the trace of a rank never appears"},
      {FaultKind::kMuteRank, "mute-rank", "RANK", "0", "a rank never asks Kineto's daemon"},
      {FaultKind::kLateAnswers, "late-answers", "COUNT", "2",
       "processes find a daemon's answers COUNT questions late"},
      {FaultKind::kNewTorch, "new-torch", "", "",
       "processes have the Kineto of torch 2.14, which restricts a daemon's folders"},
      {FaultKind::kTruncate, "truncate", "", "", "traces end in the middle"},
      {FaultKind::kSilentSecond, "silent-second-session", "", "",
       "the second session answers 200 and writes nothing"},
      {FaultKind::kClockSkew, "clock-skew", "TIME", "3ms", "the machine's clock is off"},
      {FaultKind::kClockDrift, "clock-drift", "PPM", "50", "the machine's clock runs too fast"},
      {FaultKind::kDieInFlush, "die-in-flush", "", "", "the engine dies while it writes"},
      {FaultKind::kDieInLoad, "die-in-load", "COUNT", "100", "the engine dies after COUNT steps"},
      {FaultKind::kDiskFull, "disk-full", "", "", "no space left for traces"},
      {FaultKind::kErrorInStream, "error-in-stream", "COUNT", "10",
       "each COUNTth answer ends in an error inside its 200 stream"},
      {FaultKind::kUnhealthy, "unhealthy", "", "", "/health answers 503"},
      {FaultKind::kLoseFirst, "lose-first", "COUNT", "1",
       "the Nth session loses its first N times COUNT pieces of device work"},
      {FaultKind::kLoseReplays, "lose-replays", "COUNT", "8",
       "all graph replays but each COUNTth lose their device work"},
      {FaultKind::kRecorderStops, "recorder-stops", "TIME", "200ms",
       "calls and device work are recorded until so long before the window ends"},
      {FaultKind::kDeviceSkew, "device-skew", "TIME", "-200us",
       "the device's clock is off against the host's"},
      {FaultKind::kDeviceDrift, "device-drift", "PPM", "-500", "the device's clock runs too fast"},
  };
  return rows;
}

Result<int64_t> ParseTime(std::string_view text) {
  struct Unit {
    std::string_view name;
    int64_t ns;
  };
  static constexpr Unit kUnits[] = {
      {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto value = ParseWhole<double>(text.substr(0, text.size() - unit.name.size()));
    if (!value) continue;
    const double ns = *value * static_cast<double>(unit.ns);
    if (!(ns > -1e15 && ns < 1e15)) break;  // at most eleven days
    return static_cast<int64_t>(ns);
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("'{}' is not a time; write 5s, 300ms, 20us or 2m", text));
}

Result<Fault> ParseFault(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view head = text.substr(0, colon);
  const size_t at = head.find('@');
  const std::string_view name = head.substr(0, at);
  const auto row = std::ranges::find(FaultRows(), name, &FaultRow::name);
  if (row == FaultRows().end()) {
    return Fail(ErrorKind::kUsage, fmt::format("no fault '{}'; known are {}", name, KnownKinds()));
  }
  Fault fault{row->kind, {}, 0};
  if (at != std::string_view::npos) {
    TACHO_ASSIGN_OR_RETURN(fault.worker, WithContext(ParseAmount(head.substr(at + 1)), "--fault"));
  }
  if (colon != std::string_view::npos && row->argument.empty()) {
    return Fail(ErrorKind::kUsage, fmt::format("fault {} takes no argument", name));
  }
  if (row->argument.empty()) return fault;
  const std::string_view argument =
      colon == std::string_view::npos ? row->fallback : text.substr(colon + 1);
  TACHO_ASSIGN_OR_RETURN(fault.amount, WithContext(row->argument == "TIME" ? ParseTime(argument)
                                                                           : ParseAmount(argument),
                                                   fmt::format("fault {}", name)));
  return fault;
}

std::string TextOf(const Fault& fault) {
  const auto row = std::ranges::find(FaultRows(), fault.kind, &FaultRow::kind);
  std::string text(row == FaultRows().end() ? "none" : row->name);
  if (fault.worker) text += fmt::format("@{}", *fault.worker);
  if (row == FaultRows().end() || row->argument.empty()) return text;
  return text + fmt::format(":{}{}", fault.amount, row->argument == "TIME" ? "ns" : "");
}

Fault RandomFault(uint64_t seed, int64_t workers) {
  Random random = Random::FromState(HashNumber(seed ^ 0xfa017U));
  const auto count = static_cast<int64_t>(FaultRows().size());
  const FaultRow& row = FaultRows()[static_cast<size_t>(random.Between(0, count - 1))];
  Fault fault = *ParseFault(row.name);
  fault.worker = random.Between(0, workers - 1);
  return fault;
}

const Fault* Faults::Find(FaultKind kind, int64_t worker) const {
  const auto found = std::ranges::find_if(list_, [&](const Fault& fault) {
    return fault.kind == kind && (!fault.worker || *fault.worker == worker);
  });
  return found == list_.end() ? nullptr : &*found;
}

bool Faults::Strikes(FaultKind kind, int64_t worker, uint64_t nth) const {
  const Fault* fault = Find(kind, worker);
  return fault != nullptr && nth % static_cast<uint64_t>(std::max<int64_t>(1, fault->amount)) == 0;
}

int64_t Faults::Amount(FaultKind kind, int64_t worker, int64_t otherwise) const {
  const Fault* fault = Find(kind, worker);
  return fault == nullptr ? otherwise : fault->amount;
}

}  // namespace tacho::simulate

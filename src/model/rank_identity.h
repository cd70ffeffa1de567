#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tacho {

// Which rank of a deployment a trace belongs to, and which stage. Unknown parts are absent.
struct RankIdentity {
  std::string worker;  // in a recording: "w0" is the first worker that the router lists
  std::optional<int64_t> data_parallel, pipeline, tensor;  // the rank's number in each group
  std::optional<int64_t> rank, world_size;                 // within the rank's engine
  std::string stage;                                       // "prefill" or "decode"

  // The name of the rank and its stage, such as "w0 DP1 TP0 prefill". It is "w0 rank 3" if the
  // group numbers are unknown, "w0" if the engine has only one rank, and "" if nothing is known.
  [[nodiscard]] std::string Name() const;
  // The same without the stage.
  [[nodiscard]] std::string RankName() const;

  bool operator==(const RankIdentity&) const = default;
};

// Orders by worker, group numbers, rank, then stage (prefill first). Unknown parts come last.
bool ComesBefore(const RankIdentity& a, const RankIdentity& b);

// Clears those group numbers that distinguish no ranks of a run: a number is cleared in all
// identities if it is 0 or unknown in each of them.
void LeaveOutSingles(std::span<RankIdentity* const> identities);

}  // namespace tacho

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tacho {

// The rank of a deployment that a trace belongs to, and its stage. A part that is not known is
// absent.
struct RankIdentity {
  std::string worker;  // in a recording: "w0" is the first worker that the router names
  std::optional<int64_t> data_parallel, pipeline, tensor;  // its number in each group
  std::optional<int64_t> rank, world_size;                 // within its engine
  std::string stage;                                       // "prefill" or "decode"

  // "w0 DP1 TP0 prefill"; "w0 rank 3" where the numbers are not known, "w0" where its engine has
  // one rank, "" where nothing is known.
  [[nodiscard]] std::string Name() const;
  // The same without the stage.
  [[nodiscard]] std::string RankName() const;

  bool operator==(const RankIdentity&) const = default;
};

// Orders by worker, number in each group, rank, stage (prefill first); unknown parts come last.
bool ComesBefore(const RankIdentity& a, const RankIdentity& b);

// Clears each number that is 0 or unknown in all identities of a run, because it does not
// distinguish them.
void LeaveOutSingles(std::span<RankIdentity* const> identities);

}  // namespace tacho

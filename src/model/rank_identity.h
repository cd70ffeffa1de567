#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tacho {

// Which rank of a deployment a trace is of, and which of its stages. A part that is not known is
// absent.
struct RankIdentity {
  std::string worker;  // of a recording: "w0", the first that the router names
  std::optional<int64_t> data_parallel, pipeline, tensor;  // its number in each
  std::optional<int64_t> rank, world_size;                 // within its engine
  std::string stage;                                       // "prefill" or "decode"

  // "w0 DP1 TP0 prefill"; "w0 rank 3" where the numbers are not known, "w0" where its engine has
  // one rank, "" where nothing is known.
  [[nodiscard]] std::string Name() const;
  // The same without the stage.
  [[nodiscard]] std::string RankName() const;

  bool operator==(const RankIdentity&) const = default;
};

// By worker, number in each, rank, stage (prefill first); what is not known last.
bool ComesBefore(const RankIdentity& a, const RankIdentity& b);

// Clears a number that is 0 or unknown in all of a run: it tells nothing apart.
void LeaveOutSingles(std::span<RankIdentity* const> identities);

}  // namespace tacho

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/ranks/digest.h"
#include "analysis/requests/prompt_reads.h"
#include "analysis/requests/step_cells.h"
#include "base/time.h"

namespace tacho {

// What the time of a request is made of. docs/metrics.md defines each part.
enum class RequestPart : uint8_t {
  kClient,        // due, but not yet taken by the client's kernel
  kNetwork,       // as long as requests that do not queue take until their first step, at least
  kQueue,         // the rest of the time before its first step
  kPrefill,       // the device in the steps that read its prompt
  kWaitPrefill,   // its answer waited for, or in, steps that others' prompts made longer
  kDecode,        // the device in the steps that made its tokens
  kComm,          // exposed communication in its steps
  kSkew,          // the same, while it waited for other ranks, as far as that is known
  kHost,          // the device was idle in its steps because of the host
  kBetweenSteps,  // no step ran
  kPreempted,     // steps of others ran, which read no prompt, while it had to wait
  kSend,          // from the end of its last step until the client's host had its tokens
  kUnknown,
  kCount,
};
inline constexpr size_t kRequestParts = static_cast<size_t>(RequestPart::kCount);
std::string_view RequestPartId(RequestPart part);  // "client", ..., "detokenise-and-send"

// By RequestPart; never negative.
struct RequestParts {
  std::array<DurationNs, kRequestParts> ns = {};

  [[nodiscard]] DurationNs& operator[](RequestPart part) { return ns[static_cast<size_t>(part)]; }
  [[nodiscard]] DurationNs operator[](RequestPart part) const {
    return ns[static_cast<size_t>(part)];
  }
  [[nodiscard]] DurationNs Sum() const;
  void Add(const RequestParts& more);
  // These parts, scaled in proportion so that they add up to `sum` exactly; unchanged if that is
  // Sum() or more.
  [[nodiscard]] RequestParts ScaledTo(DurationNs sum) const;
  bool operator==(const RequestParts&) const = default;
};
// What all of `fits` have in common; the rest is kUnknown. All of them have the same sum.
RequestParts CommonOf(std::span<const RequestParts> fits);

// A request's times on the clock of its engine's steps.
struct RequestTimes {
  struct Chunk {
    TimeNs seen;  // at the client
    uint32_t tokens = 0;
  };
  TimeNs due, sent;
  std::vector<Chunk> chunks;  // with tokens, in order
};

// One way in which the request fits the steps of its engine.
class RequestFit {
 public:
  static constexpr uint32_t kNoStep = 0xffffffff;

  // `steps`: by token, the step that made it, never decreasing; kNoStep: not known, or not
  // recorded. `first_read`: the first step that reads its prompt; kNoStep unless the first token
  // has a step. `unsure`: steps, in order, that may or may not have made one of its tokens.
  RequestFit(uint32_t first_read, std::vector<uint32_t> steps, std::vector<uint32_t> unsure = {});

  [[nodiscard]] uint32_t first_read() const { return first_read_; }
  [[nodiscard]] const std::vector<uint32_t>& steps() const { return steps_; }
  [[nodiscard]] bool Makes(uint32_t step) const;
  [[nodiscard]] bool IsUnsure(uint32_t step) const;

 private:
  uint32_t first_read_;
  std::vector<uint32_t> steps_, made_, unsure_;  // made_: in order
};

// Splits the time of requests by the steps of their engine. Refers to its arguments.
class RequestSplitter {
 public:
  // `labels`, `cells`: of the same steps. `clock_error`: how far times of the client may be off on
  // the clock of the steps. `skew`: SkewOfCells; empty: not known. Cost: O(steps log steps).
  RequestSplitter(const std::vector<DigestStep>& steps, const StepCells& cells,
                  DurationNs clock_error, const std::vector<DurationNs>& skew = {});

  // Takes in the time from a request's sending to its first step. The shortest of these times is
  // what all requests need (kNetwork). To be called for each request that did not queue, before any
  // parts are taken. Without any call, the way to the engine is part of the queue.
  void AddFirstStep(TimeNs sent, uint32_t first_read);

  // The parts of the time from `due` until the client had the chunk. They add up to it exactly.
  [[nodiscard]] RequestParts UntilChunk(const RequestTimes& times, const RequestFit& fit,
                                        size_t chunk) const;
  // The parts of the time from the chunk before until this one; `chunk` is 1 or more.
  [[nodiscard]] RequestParts Gap(const RequestTimes& times, const RequestFit& fit,
                                 size_t chunk) const;

  // Whether the times of a request contradict the clock of its steps by more than its error: the
  // first step begins before the request was sent, or tokens are seen before their step's end.
  [[nodiscard]] bool Contradicts(const RequestTimes& times, const RequestFit& fit) const;

  // What a decode step of so many requests takes here, or one of about as many (half to double);
  // nullopt if there is no such step.
  [[nodiscard]] std::optional<DurationNs> DecodeStep(int64_t requests) const;

  enum class Role : uint8_t { kReadsPrompt, kMakesToken, kOther };
  // The parts of the work of a step, and of the time before it, for a request with that role.
  [[nodiscard]] RequestParts OfStep(uint32_t step, Role role) const;
  [[nodiscard]] RequestParts OfTimeBefore(uint32_t step, Role role) const;

 private:
  class Path;

  [[nodiscard]] Role RoleIn(const RequestFit& fit, uint32_t step) const;
  [[nodiscard]] RequestParts InFit(const RequestFit& fit, uint32_t step, bool before) const;
  // `number`: index into StepCells::cells.
  [[nodiscard]] RequestParts OfCell(size_t number, DurationNs length, Role role) const;
  void AddSteps(const RequestFit& fit, uint32_t from, uint32_t last, bool whole, Path& path) const;

  void AddSend(uint32_t last, TimeNs seen, Path& path) const;

  const std::vector<DigestStep>& steps_;
  const StepCells& cells_;
  DurationNs clock_error_;
  std::vector<DurationNs> skew_;                    // by cell; empty: not known
  std::map<int64_t, std::vector<int64_t>> decode_;  // lengths of pure decode steps, by requests
  DurationNs usual_pause_;                          // between two steps: the median
  std::optional<DurationNs> least_until_first_;
};

}  // namespace tacho

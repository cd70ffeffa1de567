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
  kClient,        // the request was due, but the client's kernel had not taken it yet
  kNetwork,       // the part of the time until its first step that every request needs
  kQueue,         // the rest of the time before its first step
  kPrefill,       // the device worked in steps that read its prompt
  kWaitPrefill,   // time that steps took because they read prompts of other requests
  kDecode,        // the device worked in steps that made its tokens
  kComm,          // exposed communication in its steps, without kSkew
  kSkew,          // exposed communication in its steps that is known to be waiting for other ranks
  kHost,          // the device was idle in its steps because of the host
  kBetweenSteps,  // no step ran
  kPreempted,     // it waited while steps ran that had only other requests and read no prompt
  kSend,          // from the end of its last step until the client's host had its tokens
  kUnknown,
  kCount,
};
inline constexpr size_t kRequestParts = static_cast<size_t>(RequestPart::kCount);
std::string_view RequestPartId(RequestPart part);  // "client", ..., "detokenise-and-send"

// A request's time, split into its parts; none is negative.
struct RequestParts {
  std::array<DurationNs, kRequestParts> ns = {};

  [[nodiscard]] DurationNs& operator[](RequestPart part) { return ns[static_cast<size_t>(part)]; }
  [[nodiscard]] DurationNs operator[](RequestPart part) const {
    return ns[static_cast<size_t>(part)];
  }
  [[nodiscard]] DurationNs Sum() const;
  void Add(const RequestParts& more);
  // These parts, scaled down in proportion so that they add up to `sum` exactly. If `sum` is Sum()
  // or more, these parts unchanged.
  [[nodiscard]] RequestParts ScaledTo(DurationNs sum) const;
  bool operator==(const RequestParts&) const = default;
};
// For each part, the least time that any of `fits` has; the rest of the time is kUnknown. All of
// `fits` must have the same sum.
RequestParts CommonOf(std::span<const RequestParts> fits);

// A request's times on the clock of its engine's steps.
struct RequestTimes {
  struct Chunk {
    TimeNs seen;  // when it reached the client
    uint32_t tokens = 0;
  };
  TimeNs due, sent;
  std::vector<Chunk> chunks;  // only chunks with tokens, in order
};

// One possible assignment of a request to the steps of its engine.
class RequestFit {
 public:
  static constexpr uint32_t kNoStep = 0xffffffff;

  // `steps[token]`: the step that made the token, never decreasing; kNoStep: not known, or not
  // recorded. `first_read`: the first step that reads the prompt; must be kNoStep if the first
  // token's step is kNoStep. `unsure`: steps, in order, that may have made one of the tokens.
  RequestFit(uint32_t first_read, std::vector<uint32_t> steps, std::vector<uint32_t> unsure = {});

  [[nodiscard]] uint32_t first_read() const { return first_read_; }
  [[nodiscard]] const std::vector<uint32_t>& steps() const { return steps_; }
  [[nodiscard]] bool Makes(uint32_t step) const;
  [[nodiscard]] bool IsUnsure(uint32_t step) const;

 private:
  uint32_t first_read_;
  // `made_`: the known steps of `steps_`, in order.
  std::vector<uint32_t> steps_, made_, unsure_;
};

// Splits the time of requests by what their engine's steps did. Refers to `steps` and `cells`.
class RequestSplitter {
 public:
  // `cells` must be those of `steps`. `clock_error`: how far the client's times may be off on the
  // clock of the steps. `skew`: what SkewOfCells returned; empty if not known. Cost: O(steps log
  // steps).
  RequestSplitter(const std::vector<DigestStep>& steps, const StepCells& cells,
                  DurationNs clock_error, const std::vector<DurationNs>& skew = {});

  // Tells the splitter how long a request took from its sending to its first step. The shortest of
  // these times becomes the part kNetwork of every request. Call this for each request that did not
  // queue, before any function that returns parts. Without a call, kNetwork is 0, and the whole
  // time is part of kQueue.
  void AddFirstStep(TimeNs sent, uint32_t first_read);

  // The parts of the time from `due` until the client had the chunk. Their sum is exactly that
  // time.
  [[nodiscard]] RequestParts UntilChunk(const RequestTimes& times, const RequestFit& fit,
                                        size_t chunk) const;
  // The parts of the time between chunk `chunk` - 1 and chunk `chunk`, which is at least 1.
  [[nodiscard]] RequestParts Gap(const RequestTimes& times, const RequestFit& fit,
                                 size_t chunk) const;

  // How much of the time from sending to the last chunk lies before the first or after the last of
  // the steps, and is unknown for this reason.
  [[nodiscard]] DurationNs Outside(const RequestTimes& times, const RequestFit& fit) const;

  // Whether the times of a request contradict the clock of its steps by more than its error: the
  // first step begins before the request was sent, or tokens are seen before their step's end.
  [[nodiscard]] bool Contradicts(const RequestTimes& times, const RequestFit& fit) const;

  // The median length of the decode steps with `requests` requests. If there are none, that of the
  // decode steps with the nearest number of requests, between half and double of `requests`.
  // nullopt if there are none either.
  [[nodiscard]] std::optional<DurationNs> DecodeStep(int64_t requests) const;

  enum class Role : uint8_t { kReadsPrompt, kMakesToken, kOther };
  // The parts of the work of a step, and of the time before it, for a request that has this role in
  // the step.
  [[nodiscard]] RequestParts OfStep(uint32_t step, Role role) const;
  [[nodiscard]] RequestParts OfTimeBefore(uint32_t step, Role role) const;

 private:
  class Path;

  [[nodiscard]] Role RoleIn(const RequestFit& fit, uint32_t step) const;
  [[nodiscard]] RequestParts InFit(const RequestFit& fit, uint32_t step, bool before) const;
  // Takes an index into StepCells::cells, and the length of that cell.
  [[nodiscard]] RequestParts OfCell(size_t number, DurationNs length, Role role) const;
  void AddSteps(const RequestFit& fit, uint32_t from, uint32_t last, bool whole, Path& path) const;

  void AddSend(uint32_t last, TimeNs seen, Path& path) const;

  const std::vector<DigestStep>& steps_;
  const StepCells& cells_;
  DurationNs clock_error_;
  std::vector<DurationNs> skew_;  // by cell; empty: not known
  // By number of requests: the lengths of the pure decode steps that have so many.
  std::map<int64_t, std::vector<int64_t>> decode_;
  DurationNs usual_pause_;  // the median pause between two steps
  std::optional<DurationNs> least_until_first_;
};

}  // namespace tacho

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/engine_steps.h"
#include "analysis/requests/slot_flow.h"

namespace tacho {

// How many tokens each step of an engine makes, by its annotation.
//
// A step that may make first tokens of answers is a prompt slot: it makes at most one for each
// request that reads a prompt there, and none if no prompt ends there. A step that may make later
// tokens is an answer slot: it makes exactly one for each generating request. If the step has more
// tokens than requests (speculative decoding, or a preempted request that is read again), it makes
// any number from 0 to all of these tokens, and one request may get all but one for each of the
// others. A step that does not say its tokens (vLLM before 0.14, SGLang's TARGET_VERIFY and MIXED,
// unlabelled ones) may make any number of both.
//
// A request that SGLang retracted gets its next token from a step that reads prompts; that is not
// modelled: such steps and records contradict each other.
struct StepRooms {
  std::vector<uint32_t> prompt_steps, answer_steps;  // indices of steps, ascending
  std::vector<SlotProblem::Slot> prompts, answers;   // by slot
  // By prompt slot; -1: unknown.
  std::vector<int64_t> prompt_tokens;
  // By step, and one past the last one: the number of prompt or answer slots before it.
  std::vector<uint32_t> prompts_before, answers_before;
  bool counts = false;  // any step says how many requests are in it
  // By answer slot, and one past the last one: how many slots before it may make other than exactly
  // one token for each generating request.
  std::vector<uint32_t> uneven_before;

  explicit StepRooms(const std::vector<EngineStep>& steps);
};

}  // namespace tacho

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/engine_steps.h"
#include "analysis/requests/slot_flow.h"

namespace tacho {

// How many tokens each step of an engine can make, by its annotation. A step has up to two slots:
//
// - A step that may make first tokens of answers has a prompt slot. It takes at most one token for
//   each request whose prompt the step reads.
// - A step that may make later tokens has an answer slot. It takes exactly one token for each
//   generating request. But if its annotation names more tokens than requests (speculative
//   decoding, or a preempted request that is read again), the slot takes any number of tokens up to
//   the number named. One request gets at most what is left if every other request gets one token.
// - A step whose annotation does not say its tokens (vLLM before 0.14, SGLang's TARGET_VERIFY and
//   MIXED, unlabelled steps) has both slots, for any number of tokens.
//
// A request that SGLang retracted gets its next token from a step that reads prompts. This is not
// modelled: such steps and records contradict each other.
struct StepRooms {
  std::vector<uint32_t> prompt_steps, answer_steps;  // by slot: the index of its step, ascending
  std::vector<SlotProblem::Slot> prompts, answers;   // by slot: how many tokens it takes
  // By prompt slot: how many prompt tokens its step reads; -1: unknown.
  std::vector<int64_t> prompt_tokens;
  // By step, with one more entry at the end: the number of prompt or answer slots before it.
  std::vector<uint32_t> prompts_before, answers_before;
  bool counts = false;  // any step says how many requests are in it
  // By answer slot, with one more entry at the end: how many of the slots before it need not make
  // exactly one token for each generating request.
  std::vector<uint32_t> uneven_before;

  explicit StepRooms(const std::vector<EngineStep>& steps);
};

}  // namespace tacho

#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/args.h"
#include "model/event.h"
#include "model/notes.h"

namespace tacho {

// Joins the begins and ends of each track to slices: an end closes the last begin that is still
// open. Memory grows with what is open.
class BeginEndPairs {
 public:
  struct Slice {
    Event event;
    ArgsRef args;
  };

  // A begin without a usable time stays open too: its end must not close another's.
  void Begin(const Event& event, ArgsRef args = {});
  // The slice that `event` ends; nothing when there is none or when its times are not usable.
  // Notes an end without begin, and one before its begin, whose slice then takes no time.
  std::optional<Slice> End(const Event& event, Notes& notes);
  // Notes what is still open: no slice.
  void Finish(Notes& notes) const;

 private:
  std::unordered_map<uint32_t, std::vector<Slice>> open_;  // by track
};

}  // namespace tacho

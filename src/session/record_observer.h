#pragma once

#include <string>
#include <string_view>

namespace tacho {

struct Recording;

// Is told of the progress of a recording, on the thread that runs Record.
class RecordObserver {
 public:
  virtual ~RecordObserver() = default;
  // A phase (such as "preflight") is done; `what` is its result.
  virtual void OnDone(std::string_view phase, const std::string& what) = 0;
  // Progress of the current phase, perhaps in several lines; called often.
  virtual void OnProgress(std::string_view phase, const std::string& what) = 0;
  virtual void OnRemark(const std::string& what) = 0;
  // Some workers are done while others still write: `recording` may be written and proven now, and
  // the recording goes on afterwards.
  virtual void OnPartly(Recording&) {}
  // What would be left behind if this process ended now, in lines for the user; "" for nothing.
  virtual void OnLeftBehind(const std::string& what) = 0;
};

}  // namespace tacho

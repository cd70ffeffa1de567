#pragma once

#include <string>
#include <string_view>

namespace tacho {

struct Recording;

// Hears what goes on, from the thread that runs Record.
class RecordObserver {
 public:
  virtual ~RecordObserver() = default;
  // A phase is done: "preflight", what came out.
  virtual void OnDone(std::string_view phase, const std::string& what) = 0;
  // Of the phase under way, perhaps in several lines; comes often.
  virtual void OnProgress(std::string_view phase, const std::string& what) = 0;
  virtual void OnRemark(const std::string& what) = 0;
  // Some workers are done and others still write: `recording` may be written and proven now, and
  // goes on.
  virtual void OnPartly(Recording&) {}
  // What would stay if this process ended now, in lines for the user; "" for nothing.
  virtual void OnLeftBehind(const std::string& what) = 0;
};

}  // namespace tacho

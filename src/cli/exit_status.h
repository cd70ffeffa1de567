#pragma once

#include "base/result.h"

namespace tacho {

// What every command of tacho returns to the shell.
enum ExitStatus : int {
  kDone = 0,
  kGateFailed = 1,       // a limit of `tacho compare --fail-on`
  kBadUsage = 2,         // unknown command or option, or an option that does not fit
  kUnreadableInput = 3,  // no input could be read, or the result could not be written
  kIncomplete = 4,  // done, but something is missing: a rank, events, GPU work, one of the inputs
  kNotComparable = 5,
  kRemoteFailed = 6,   // an engine or a router refused, or gave no answer in time
  kBug = 70,           // a bug of tacho
  kInterrupted = 130,  // Ctrl-C
};

constexpr ExitStatus StatusOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return kBadUsage;
    case ErrorKind::kUnreadable:
    case ErrorKind::kOutput:
      return kUnreadableInput;
    case ErrorKind::kRemote:
      return kRemoteFailed;
    case ErrorKind::kInterrupted:
      return kInterrupted;
    case ErrorKind::kBug:
      return kBug;
  }
  return kBug;
}

}  // namespace tacho

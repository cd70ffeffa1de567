#pragma once

#include <string_view>

#include "base/result.h"

namespace tacho {

// The name of a kind where programs read it: "usage" (docs/json.md, tacho.Error.kind in Python).
constexpr std::string_view ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return "usage";
    case ErrorKind::kUnreadable:
      return "unreadable";
    case ErrorKind::kOutput:
      return "output";
    case ErrorKind::kRemote:
      return "remote";
    case ErrorKind::kInterrupted:
      return "interrupted";
    case ErrorKind::kBug:
      break;
  }
  return "bug";
}

}  // namespace tacho

#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/file_descriptor.h"

namespace tacho {

class Exchange;

// A connection that is being made. Destroy it to give up.
class Dial {
 public:
  virtual ~Dial() = default;
};

// Called on the loop's thread, not from within the call that dials: with the socket, or without
// one. May destroy the Dial.
using Dialed = std::function<void(FileDescriptor)>;

// Dials the server of an exchange, which must stay, for so long. The exchange is told why there is
// no socket, before Dialed is called without one; also when dialing cannot even begin, and nothing
// is given.
using Dialer =
    std::function<std::unique_ptr<Dial>(Exchange&, std::chrono::milliseconds patience, Dialed)>;

}  // namespace tacho

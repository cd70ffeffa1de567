#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/file_descriptor.h"

namespace tacho {

class Exchange;

// A connection attempt. Destroy it to give up.
class Dial {
 public:
  virtual ~Dial() = default;
};

// Called on the loop's thread with or without a socket, never from within the call that dials. May
// destroy the Dial.
using Dialed = std::function<void(FileDescriptor)>;

// Dials the server of an exchange, within `patience`. The exchange must outlive the Dial. On
// failure the exchange first gets the reason, then Dialed is called without a socket. If dialing
// cannot even begin, the exchange gets the reason and nullptr is returned.
using Dialer =
    std::function<std::unique_ptr<Dial>(Exchange&, std::chrono::milliseconds patience, Dialed)>;

}  // namespace tacho

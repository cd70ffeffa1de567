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

// Dials the server of an exchange, which must outlive the Dial, within that time. Before Dialed is
// called without a socket, the exchange is given the reason; also if dialing cannot even begin,
// which returns nullptr.
using Dialer =
    std::function<std::unique_ptr<Dial>(Exchange&, std::chrono::milliseconds patience, Dialed)>;

}  // namespace tacho

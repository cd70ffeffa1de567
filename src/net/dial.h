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

// Gets the connected socket, or none if the attempt failed. Called on the loop's thread, never from
// within the call that dials. It may destroy the Dial.
using Dialed = std::function<void(FileDescriptor)>;

// Connects to the server of an exchange within `patience`. The exchange must outlive the Dial. On
// failure the exchange first gets the reason, then Dialed is called without a socket. If the
// attempt cannot even begin, the exchange gets the reason and the result is nullptr.
using Dialer =
    std::function<std::unique_ptr<Dial>(Exchange&, std::chrono::milliseconds patience, Dialed)>;

}  // namespace tacho

#pragma once

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

// Called on the loop's thread, not from within the call that dials: with the socket, or without one
// after the exchange was told why. May destroy the Dial.
using Dialed = std::function<void(FileDescriptor)>;

// Dials the server of an exchange, which must stay. Gives nothing when that cannot even begin; the
// exchange was told why then.
using Dialer = std::function<std::unique_ptr<Dial>(Exchange&, Dialed)>;

}  // namespace tacho

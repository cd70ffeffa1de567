#pragma once

#include <string_view>

namespace tacho {

// Takes the bytes of a file in order.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // False if the bytes could not be written. After that only the destructor may be called.
  virtual bool Write(std::string_view bytes) = 0;
};

}  // namespace tacho

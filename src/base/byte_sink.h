#pragma once

#include <string_view>

namespace tacho {

// Takes the bytes of a file in order.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // False if the bytes could not be written: then only its end is called.
  virtual bool Write(std::string_view bytes) = 0;
};

}  // namespace tacho

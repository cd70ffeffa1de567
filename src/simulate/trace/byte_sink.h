#pragma once

#include <string_view>

namespace tacho::simulate {

// Takes the bytes of a file in order.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // False when the bytes could not be kept: nothing more is asked of it then but its end.
  virtual bool Write(std::string_view bytes) = 0;
};

}  // namespace tacho::simulate

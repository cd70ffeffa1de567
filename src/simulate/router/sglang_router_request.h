#pragma once

#include <string>

namespace tacho::simulate {

// What sglang-router does to the body of a request before it passes it on.
struct RoutedRequest {
  int status = 0;    // 0: pass on; else the refusal's
  std::string text;  // the body to pass on, or the refusal
};
RoutedRequest ReadRoutedRequest(const std::string& path, const std::string& body);

}  // namespace tacho::simulate

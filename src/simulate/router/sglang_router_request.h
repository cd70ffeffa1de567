#pragma once

#include <string>

namespace tacho::simulate {

// How sglang-router changes the body of a request before it forwards it.
struct RoutedRequest {
  int status = 0;    // 0: pass the request on; else the status of the refusal
  std::string text;  // the body to pass on, or the refusal
};
RoutedRequest ReadRoutedRequest(const std::string& path, const std::string& body);

}  // namespace tacho::simulate

#pragma once

#include <string>

namespace tacho::simulate {

// A request after sglang-router has changed its body to forward it, or the router's refusal.
struct RoutedRequest {
  int status = 0;    // 0: forward the request; else the status of the refusal
  std::string text;  // the body to forward, or the text of the refusal
};
RoutedRequest ReadRoutedRequest(const std::string& path, const std::string& body);

}  // namespace tacho::simulate

#include "simulate/api_error.h"

#include <fmt/format.h>

#include "base/json_text.h"

namespace tacho::simulate {
namespace {

std::string Fields(const ApiError& error) {
  return fmt::format(R"("message":{},"type":{},"param":{},"code":{})", QuoteJson(error.message),
                     QuoteJson(error.type), error.param.empty() ? "null" : QuoteJson(error.param),
                     error.status);
}

}  // namespace

std::string VllmErrorJson(const ApiError& error) { return "{\"error\":{" + Fields(error) + "}}"; }
std::string SglangErrorJson(const ApiError& error) {
  return "{\"object\":\"error\"," + Fields(error) + "}";
}

}  // namespace tacho::simulate

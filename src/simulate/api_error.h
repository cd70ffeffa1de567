#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "simulate/trace/kernel_catalog.h"

namespace tacho::simulate {

// A refusal that each API writes in its own format.
struct ApiError {
  int status = 400;
  std::string message;
  std::string type = "BadRequestError";
  std::string param = {};  // "" is written as null
};

// vLLM's format: {"error":{"message","type","param","code"}}
std::string VllmErrorJson(const ApiError& error);
// SGLang's format: {"object":"error","message","type","param","code"}
std::string SglangErrorJson(const ApiError& error);

// Each engine's answer to a body that is invalid JSON, lacks a field or requests too much.
ApiError NoJson(SimulatedEngine engine, std::string_view body);
ApiError MissingField(SimulatedEngine engine, std::string_view field);
ApiError TooManyTokens(SimulatedEngine engine, int64_t prompt, int64_t asked, int64_t most);

// Why an engine refused a request to start or stop profiling, in the words of the server in front
// of it. SGLang's own answer is a 500 without a reason, so the reason follows from `start`.
std::string WhyRefused(bool start, int status, std::string_view body);

// How the routers' JSON reader (Rust's serde) reports an invalid body: "model: EOF while parsing a
// value at line 1 column 10".
std::string SerdeError(std::string_view body);

}  // namespace tacho::simulate

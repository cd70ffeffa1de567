#pragma once

#include <cstdint>
#include <string>

namespace tacho::simulate {

// A refusal in the words of an API.
struct ApiError {
  int status = 400;
  std::string message;
  std::string type = "BadRequestError";
  std::string param = {};  // "" is null
};

// vLLM: {"error":{"message","type","param","code"}}
std::string VllmErrorJson(const ApiError& error);
// SGLang's OpenAI routes: {"object":"error","message","type","param","code"}
std::string SglangErrorJson(const ApiError& error);

}  // namespace tacho::simulate

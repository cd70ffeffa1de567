#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tacho {

// What kind of failure an Error is; each kind has one exit status (see cli/exit_status.h).
enum class ErrorKind {
  kUsage,        // the user asked for something that does not exist or does not fit
  kUnreadable,   // an input cannot be read, or is not what it should be
  kOutput,       // a result cannot be written
  kRemote,       // an engine or a router refused, failed, or did not answer in time
  kInterrupted,  // the user asked to stop
  kBug,          // an invariant of ours does not hold
};

// A failure that ends the job it belongs to. The message names the place (file, byte, flag), what
// was expected, and what to do; it starts in lower case and has no full stop, so that it can be
// prefixed. Defective data is not an Error: it is counted as a Note (model/notes.h).
struct Error {
  ErrorKind kind = ErrorKind::kBug;
  std::string message;

  // Puts `where` in front: "FILE: message".
  [[nodiscard]] Error WithContext(std::string_view where) const {
    return Error{kind, std::string(where) + ": " + message};
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

// `result`, with `where` put in front of its error, if it has one.
template <typename T>
Result<T> WithContext(Result<T> result, std::string_view where) {
  return std::move(result).map_error([&](const Error& error) { return error.WithContext(where); });
}

}  // namespace tacho

// If the expression, a Result, has an error, returns it from the enclosing function.
#define TACHO_RETURN_IF_ERROR(...)                                 \
  do {                                                             \
    if (auto tacho_status = (__VA_ARGS__); !tacho_status)          \
      return tl::unexpected<::tacho::Error>(tacho_status.error()); \
  } while (false)

// TACHO_ASSIGN_OR_RETURN(const Url url, ParseUrl(text)); declares `url` with the value of the
// expression, a Result, or returns its error from the enclosing function. The declaration must have
// no comma outside parentheses. The macro is several statements: put braces around it after `if`.
#define TACHO_ASSIGN_OR_RETURN(declaration, ...) \
  TACHO_ASSIGN_OR_RETURN_AS(TACHO_JOIN(tacho_result_, __LINE__), declaration, (__VA_ARGS__))
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot be put in parentheses
#define TACHO_ASSIGN_OR_RETURN_AS(result, declaration, expression)    \
  auto&& result = expression;                                         \
  if (!result) return tl::unexpected<::tacho::Error>(result.error()); \
  declaration = *std::forward<decltype(result)>(result)
// NOLINTEND(bugprone-macro-parentheses)
#define TACHO_JOIN(a, b) TACHO_JOIN_AS_IS(a, b)
#define TACHO_JOIN_AS_IS(a, b) a##b

#pragma once

#include <cstdint>
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

// A failure that ends the current job. The message names the place (file, byte, flag), what was
// expected, and what to do. It starts in lower case and has no full stop, so that text can be put
// before it. Defective data is not an Error but is counted as a Note (model/notes.h).
struct Error {
  ErrorKind kind = ErrorKind::kBug;
  std::string message;
  // The sizes, in bytes, of the parts of `message`, which reads "PLACE: BRIEF: advice and details".
  uint32_t place_size = 0;  // size of "PLACE: "; 0: the message has no place
  uint32_t brief_size = 0;  // size of BRIEF; 0: everything after the place

  // The file or URL at the start of the message; "" if there is none.
  [[nodiscard]] std::string_view Place() const {
    return std::string_view(message).substr(0, place_size - (place_size > 0 ? kJoint.size() : 0));
  }
  // The message without its place.
  [[nodiscard]] std::string_view What() const {
    return std::string_view(message).substr(place_size);
  }
  // What() without advice and details, such as "connection refused".
  [[nodiscard]] std::string_view Brief() const {
    return What().substr(0, brief_size > 0 ? brief_size : std::string_view::npos);
  }
  // Puts `where` before the message as its place: "FILE: message".
  [[nodiscard]] Error WithContext(std::string_view where) const {
    std::string text = std::string(where) + std::string(kJoint);
    const auto size = static_cast<uint32_t>(text.size());
    return Error{kind, std::move(text) + message, size,
                 brief_size > 0 ? place_size + brief_size : 0};
  }

 private:
  static constexpr std::string_view kJoint = ": ";
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

// Fails with "PLACE: what".
inline tl::unexpected<Error> FailAt(ErrorKind kind, std::string_view place, std::string what) {
  return tl::unexpected<Error>(Error{kind, std::move(what)}.WithContext(place));
}

// Returns `result`. If it is an error, puts `where` before its message.
template <typename T>
Result<T> WithContext(Result<T> result, std::string_view where) {
  return std::move(result).map_error([&](const Error& error) { return error.WithContext(where); });
}

}  // namespace tacho

// Evaluates an expression that gives a Result. If it is an error, returns it from the enclosing
// function.
#define TACHO_RETURN_IF_ERROR(...)                                 \
  do {                                                             \
    if (auto tacho_status = (__VA_ARGS__); !tacho_status)          \
      return tl::unexpected<::tacho::Error>(tacho_status.error()); \
  } while (false)

// TACHO_ASSIGN_OR_RETURN(const Url url, ParseUrl(text)); evaluates an expression that gives a
// Result. It declares `url` with the value; if there is an error, it returns the error from the
// enclosing function. The declaration must not have a comma outside of parentheses. The macro is
// several statements, so it needs braces around it after `if`.
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

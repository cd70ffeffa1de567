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

// A failure that ends the job it belongs to. The message names the place (file, byte, flag), what
// was expected, and what to do; it starts in lower case and has no full stop, so that it can be
// prefixed. Defective data is not an Error: it is counted as a Note (model/notes.h).
struct Error {
  ErrorKind kind = ErrorKind::kBug;
  std::string message;
  // The parts of `message`, in bytes: "PLACE: BRIEF: advice and details".
  uint32_t place_size = 0;  // of "PLACE: "; 0: it does not begin with a place
  uint32_t brief_size = 0;  // of BRIEF; 0: all after the place

  // The file or URL at the start of the message; "" without one.
  [[nodiscard]] std::string_view Place() const {
    return std::string_view(message).substr(0, place_size - (place_size > 0 ? kJoint.size() : 0));
  }
  // The message without its place.
  [[nodiscard]] std::string_view What() const {
    return std::string_view(message).substr(place_size);
  }
  // "connection refused": What() without advice and details.
  [[nodiscard]] std::string_view Brief() const {
    return What().substr(0, brief_size > 0 ? brief_size : std::string_view::npos);
  }
  // Puts `where` in front, as the place: "FILE: message".
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

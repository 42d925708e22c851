// Result<T>: a value, or the reason why kerf could not find one out.
//
// A bad kernel is data (a verdict), never an Error. An Error means that kerf itself could not do
// what it was asked to.
//
//   Result<std::string> text = fs.ReadFile(path);
//   KERF_ASSIGN_OR_RETURN(std::string text, fs.ReadFile(path));
//   KERF_RETURN_IF_ERROR(fs.SyncDir(dir));
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace kerf {

// Few and actionable: each one tells a caller what could be done about it.
enum class ErrorCode {
  kInvalidInput,  // the caller's words or data break a rule: correct them
  kNotFound,      // the thing named does not exist
  kCorrupt,       // stored data is damaged
  kUnavailable,   // held by another, or absent on this machine
  kTimeout,       // took longer than allowed
  kDenied,        // permission or policy
  kIo,            // the operating system failed
  kInternal,      // a bug in kerf
};

// "invalid_input", "not_found" and so on; stable, part of the JSON output.
const char* ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  // What, which file or id, and what to do, in one line.
  std::string message;

  // Prepends what kerf was doing: "recording relu/0 step 3: <message>".
  [[nodiscard]] Error Within(const std::string& what) && {
    message = what + ": " + message;
    return std::move(*this);
  }
};

// InvalidInput("names: …") and so on read better at the place of return than Error{ErrorCode::k…,
// …}.
Error InvalidInput(std::string message);
Error NotFound(std::string message);
Error Corrupt(std::string message);
Error Unavailable(std::string message);
Error TimedOut(std::string message);
Error Denied(std::string message);
Error IoError(std::string message);
// Names the operation, the path and what errno means, and picks the code that fits errno.
Error ErrnoError(const std::string& operation, const std::string& path, int saved_errno);

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that `return value;` and `return NotFound("…");` both read naturally.
  Result(T value) : value_(std::move(value)) {}      // NOLINT
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    KERF_CHECK(ok(), "the value of a failed Result was used");
    return *value_;
  }
  [[nodiscard]] const T& value() const& {
    KERF_CHECK(ok(), "the value of a failed Result was used");
    return *value_;
  }
  // By value: a reference into a Result that is about to die would dangle in `for (auto& x :
  // *List())`.
  [[nodiscard]] T value() && {
    KERF_CHECK(ok(), "the value of a failed Result was used");
    return std::move(*value_);
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }

  [[nodiscard]] const Error& error() const& {
    KERF_CHECK(!ok(), "the error of a successful Result was used");
    return error_;
  }
  [[nodiscard]] Error error() && {
    KERF_CHECK(!ok(), "the error of a successful Result was used");
    return std::move(error_);
  }

 private:
  std::optional<T> value_;
  Error error_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const& {
    KERF_CHECK(!ok(), "the error of a successful Result was used");
    return *error_;
  }
  [[nodiscard]] Error error() && {
    KERF_CHECK(!ok(), "the error of a successful Result was used");
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

#define KERF_CONCAT_INNER(a, b) a##b
#define KERF_CONCAT(a, b) KERF_CONCAT_INNER(a, b)

#define KERF_RETURN_IF_ERROR(expr)           \
  do {                                       \
    auto kerf_status = (expr);               \
    if (!kerf_status.ok()) {                 \
      return std::move(kerf_status).error(); \
    }                                        \
  } while (false)

// `lhs` may be a declaration, which parentheses would break.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define KERF_ASSIGN_OR_RETURN(lhs, expr)                           \
  auto KERF_CONCAT(kerf_result_, __LINE__) = (expr);               \
  if (!KERF_CONCAT(kerf_result_, __LINE__).ok()) {                 \
    return std::move(KERF_CONCAT(kerf_result_, __LINE__)).error(); \
  }                                                                \
  lhs = std::move(KERF_CONCAT(kerf_result_, __LINE__)).value()
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace kerf

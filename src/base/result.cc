#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace kerf {

const char* ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
      return "invalid_input";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kDenied:
      return "denied";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

Error InvalidInput(std::string message) { return {ErrorCode::kInvalidInput, std::move(message)}; }
Error NotFound(std::string message) { return {ErrorCode::kNotFound, std::move(message)}; }
Error Corrupt(std::string message) { return {ErrorCode::kCorrupt, std::move(message)}; }
Error Unavailable(std::string message) { return {ErrorCode::kUnavailable, std::move(message)}; }
Error TimedOut(std::string message) { return {ErrorCode::kTimeout, std::move(message)}; }
Error Denied(std::string message) { return {ErrorCode::kDenied, std::move(message)}; }
Error IoError(std::string message) { return {ErrorCode::kIo, std::move(message)}; }

Error ErrnoError(const std::string& operation, const std::string& path, int saved_errno) {
  ErrorCode code = ErrorCode::kIo;
  const char* advice = "";
  switch (saved_errno) {
    case ENOENT:
    case ENOTDIR:
      code = ErrorCode::kNotFound;
      break;
    case EEXIST:
      code = ErrorCode::kUnavailable;
      break;
    case EACCES:
    case EPERM:
      code = ErrorCode::kDenied;
      advice = "; check the owner and mode of the directory, or choose another one";
      break;
    case EROFS:
      code = ErrorCode::kDenied;
      advice = "; the file system is mounted read-only, choose another directory";
      break;
    case ENOSPC:
    case EDQUOT:
      advice = "; free some space or choose another directory";
      break;
    case ENAMETOOLONG:
      code = ErrorCode::kInvalidInput;
      advice = "; use a shorter name";
      break;
    case ELOOP:
      code = ErrorCode::kDenied;
      advice = "; a symbolic link stands in the way, remove it";
      break;
    case EMFILE:
    case ENFILE:
      advice = "; raise the limit of open files (ulimit -n)";
      break;
    default:
      break;
  }
  return {code, "cannot " + operation + " " + path + ": " + std::strerror(saved_errno) + advice};
}

}  // namespace kerf

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/cache_dir.h"
#include "base/file_system.h"

namespace kerf {
namespace {

constexpr uint64_t kDefaultLimit = uint64_t{4} << 30;

Result<std::string> Choose(const GetVariable& variable) {
  if (const auto own = variable("KERF_CACHE_DIR"); own.has_value() && !own->empty()) {
    if (own->front() != '/') {
      return InvalidInput("KERF_CACHE_DIR must be an absolute path, not '" + *own + "'");
    }
    return *own;
  }
  // The standard has relative values ignored.
  if (const auto base = variable("XDG_CACHE_HOME"); base.has_value() && base->starts_with('/')) {
    return JoinPath(*base, "kerf");
  }
  if (const auto home = variable("HOME"); home.has_value() && home->starts_with('/')) {
    return JoinPath(*home, ".cache/kerf");
  }
  return Unavailable(
      "no place for a cache: neither KERF_CACHE_DIR, XDG_CACHE_HOME nor HOME is set");
}

}  // namespace

std::optional<std::string> ProcessVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

Result<std::string> OpenCacheDir(const GetVariable& variable) {
  KERF_ASSIGN_OR_RETURN(std::string path, Choose(variable));
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  KERF_RETURN_IF_ERROR(MakePosixFileSystem()->CreateDirs(ParentPath(path)));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoError("make the cache", path, errno);
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return ErrnoError("look at the cache", path, errno);
  if (!S_ISDIR(info.st_mode)) return InvalidInput("the cache " + path + " is no folder");
  if (info.st_uid != ::geteuid()) {
    return Denied(
        "the cache " + path + " belongs to user " + std::to_string(info.st_uid) +
        ", who could put wrong answers into it; set KERF_CACHE_DIR to a folder of your own");
  }
  if ((info.st_mode & 022) != 0) {
    return Denied("others may write to the cache " + path + "; run: chmod 700 " + path);
  }
  return path;
}

Result<uint64_t> CacheLimit(const GetVariable& variable) {
  const std::string text = variable("KERF_CACHE_LIMIT").value_or("");
  if (text.empty()) return kDefaultLimit;
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  const size_t power = unit.empty() ? 0 : std::string("KMGT").find(unit) + 1;
  if (error != std::errc() || unit.size() > 1 || (power == 0 && !unit.empty()) ||
      number > UINT64_MAX >> (10 * power)) {
    return InvalidInput("KERF_CACHE_LIMIT is '" + text + "'; it takes bytes, as 500M or 4G");
  }
  return number << (10 * power);
}

}  // namespace kerf

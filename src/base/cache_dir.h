// Where kerf keeps what it can make again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace kerf {

// The value of an environment variable, nullopt when it is unset; injected, so that tests need not
// change the process's own.
using GetVariable = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> ProcessVariable(const std::string& name);

// $KERF_CACHE_DIR, else $XDG_CACHE_HOME/kerf, else ~/.cache/kerf. Made when it is missing, with
// mode 0700: it holds inputs and answers of tasks. kDenied when it belongs to somebody else, who
// could put answers into it.
Result<std::string> OpenCacheDir(const GetVariable& variable = ProcessVariable);

// $KERF_CACHE_LIMIT: bytes, or a number with K, M, G or T; 4 GiB by default. kInvalidInput
// otherwise.
Result<uint64_t> CacheLimit(const GetVariable& variable = ProcessVariable);

}  // namespace kerf

// From the source of a native candidate to a library the runner can load.
//
// The compiler runs in the sandbox: it reads files, runs plug-ins and can be made to take for ever,
// all at the source's wish. Libraries are kept by content (source, flags, compiler, headers), so
// that a second verdict on the same text does not compile, and what is loaded is what was compiled
// from this text.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "artifact/candidate.h"
#include "base/result.h"
#include "sandbox/sandbox.h"

namespace kerf::verify {

struct Toolchain {
  std::string compiler;  // path
  std::string version;   // "g++ 12.2.0"
};

// KERF_CXX, else g++, else clang++. kUnavailable, with the command that installs one, when there is
// none.
Result<Toolchain> FindToolchain();

struct BuildOptions {
  std::string cache_dir;
  std::string include_dir;  // holds kerf/kernel.h
  sandbox::Mode mode = sandbox::Mode::kBest;
  std::optional<sandbox::SandboxLevel> available;
  std::chrono::milliseconds timeout = std::chrono::seconds(120);
};

// What to compile, and how.
struct BuildRequest {
  std::string file_name;  // "relu.cc": what error messages call it
  std::string source;
  std::vector<std::string> flags;
  // Further folders the compiler may read, as host path and -I path inside.
  std::vector<sandbox::Bind> includes;
  std::string salt;  // whatever else the result depends on: a hash of those folders
  // A source below one of those folders (as the inside sees it) that is linked in; compiled once,
  // and kept.
  std::string support;
  std::vector<std::string> support_flags;
  // Text that comes before the source, as a header. Where the compiler can, it is compiled once and
  // kept: half a gigabyte, for torch, that saves most of a build.
  std::string prelude;
  std::vector<sandbox::Bind> prelude_includes;  // searched after `includes`, and for the prelude
  std::string prelude_salt;                     // what those folders hold
  // Whether the native runner will call it: then the function it does so through is linked in.
  bool guard = true;
  std::vector<sandbox::Bind> libraries;  // folders for -L
  std::vector<std::string> link_flags;   // behind everything else
};

struct NativeBuild {
  bool ok = false;
  std::string library;  // path
  std::string status;   // of the verdict, when not ok
  std::string reason;
  std::string log;
  Toolchain toolchain;
  std::vector<std::string> flags;
  std::string id;  // content hash
  bool cached = false;
  std::chrono::nanoseconds wall{0};
};

// Writes a file of the cache in one step: another kerf may be writing the same.
Status StoreInCache(const std::string& path, const std::string& bytes);

// The flags of impl `cpp`.
std::vector<std::string> CppFlags();

Result<NativeBuild> BuildNative(const BuildRequest& request, const BuildOptions& options);

}  // namespace kerf::verify

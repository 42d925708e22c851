// Makes CUDA C and HIP readable for a C++ compiler: kernel launches, shared memory and the few
// words that no macro can stand for. Lines stay where they are, so that the compiler's messages
// point into the author's source.
//
//   SimtSource simt = RewriteForSimt(source, {});              // for kerf's simt/ headers
//   for (const LaunchSite& site : FindLaunches(source)) …      // for other back ends, with
//   ReplaceLaunches
//
// The work is on tokens, not on a syntax tree: it costs microseconds, and what it does not
// understand it leaves to the compiler. Launches in the body of a #define are found as well.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::verify {

// Where a compiler in the sandbox finds the headers of simt/.
inline constexpr const char* kSimtInside = "/kerf/simt";

// kernel<T, 4><<<config>>>(arguments)
struct LaunchSite {
  int line = 0;
  std::string
      kernel;  // "ns::kernel<T, 4>": with template arguments, comments and line ends as spaces
  std::string config;  // the text between <<< and >>>
  std::string arguments;
  // Byte offsets into the source.
  size_t begin = 0;       // of the kernel's name
  size_t open = 0;        // of <<<
  size_t close = 0;       // of >>>
  size_t open_paren = 0;  // of the ( of the arguments
  size_t end = 0;         // behind the ) of the arguments
};
std::vector<LaunchSite> FindLaunches(std::string_view source);

// What a launch becomes: before_kernel kernel after_kernel config after_config arguments
// after_arguments. None of them may hold a line end.
struct LaunchWords {
  std::string before_kernel;
  std::string after_kernel;     // in place of <<<
  std::string after_config;     // in place of >>> and (
  std::string after_arguments;  // in place of )
};
std::string ReplaceLaunches(std::string_view source, const std::vector<LaunchSite>& sites,
                            const std::function<LaunchWords(const LaunchSite&)>& words);

struct SimtOptions {
  // Check indices into shared arrays, and look for races on them. Without it a kernel that lives in
  // shared memory runs about twice as fast.
  bool check_shared = true;
  // The source is a torch extension whose tensors are on the CPU: is_cuda() asks for the CPU, kCUDA
  // means it.
  bool torch = false;
};

struct UnsupportedUse {
  int line = 0;
  std::string what;  // a sentence; the rewritten source fails to compile with the same words
};

struct SimtSource {
  std::string text;
  std::vector<LaunchSite> launches;
  std::vector<UnsupportedUse> unsupported;
};
SimtSource RewriteForSimt(std::string_view source, const SimtOptions& options);

}  // namespace kerf::verify

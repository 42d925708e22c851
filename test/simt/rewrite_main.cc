// rewrite_for_simt [--torch] [--unchecked] SOURCE: the rewritten source on stdout, for the build of
// the test kernels.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "loop/verify/launch_rewrite.h"

int main(int argc, char** argv) {
  kerf::verify::SimtOptions options;
  const char* path = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--torch") == 0) {
      options.torch = true;
    } else if (std::strcmp(argv[i], "--unchecked") == 0) {
      options.check_shared = false;
    } else {
      path = argv[i];
    }
  }
  std::ifstream in(path == nullptr ? "" : path);
  if (!in) {
    std::fprintf(stderr, "rewrite_for_simt: no source to read\n");
    return 2;
  }
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  const std::string text = kerf::verify::RewriteForSimt(source, options).text;
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

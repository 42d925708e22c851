// Puts links to a file of the host (argv[1]) where kerf expects results, one of them through a
// folder.
#include <sys/stat.h>
#include <unistd.h>

#include <string>

int main(int, char** argv) {
  const std::string host = argv[1];
  const std::string folder = host.substr(0, host.rfind('/'));
  const bool done = ::symlink(host.c_str(), "/w/result") == 0 &&
                    ::symlink(folder.c_str(), "/w/out") == 0 &&
                    ::symlink("inner", "/w/within") == 0;
  return done ? 0 : 2;
}

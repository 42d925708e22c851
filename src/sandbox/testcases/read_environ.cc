// Looks for kerf's secrets in the environment and the memory of the processes above it. argv[1] is
// the secret's name.
#include <unistd.h>

#include <string>

#include "sandbox/testcases/attack.h"

extern char** environ;

int main(int, char** argv) {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strstr(*variable, argv[1]) != nullptr) Escaped("inherited environment");
  }
  const std::string parent = "/proc/" + std::to_string(::getppid());
  for (const std::string& process : {std::string("/proc/1"), parent}) {
    for (const char* file : {"/environ", "/mem", "/maps", "/auxv"}) {
      std::FILE* stream = std::fopen((process + file).c_str(), "r");
      // Opening some of these is free; reading is what is checked.
      if (stream != nullptr && std::fgetc(stream) != EOF) Escaped((process + file).c_str());
    }
  }
  Repelled();
}

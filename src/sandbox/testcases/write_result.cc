// Honest: leaves a result in the work folder, in a folder of its own, and a temporary file.
#include <sys/stat.h>

#include <cstdio>

bool Write(const char* path, const char* text) {
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return false;
  std::fputs(text, file);
  return std::fclose(file) == 0;
}

int main() {
  ::mkdir("out", 0700);
  return Write("/w/result", "42\n") && Write("out/more", "43\n") && Write("/tmp/scratch", "x") &&
                 std::rename("/w/result", "/w/out/result") == 0
             ? 0
             : 1;
}

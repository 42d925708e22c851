// The variables of a kernel's library, one set for each core that runs it.
//
// On the chip every core has its own copy of a kernel's static variables. Here all cores share one
// loaded library, so its writable bytes are changed when another core goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/call_stack.h"

namespace kerf_pto {
class Core;
}

namespace kerf::sim {

class LibraryImage {
 public:
  using Entry = void (*)(int64_t*);

  // Loads it and tells it where the executing core stands. The text says what is wrong with it.
  std::string Load(const std::string& path, kerf_pto::Core** current);

  [[nodiscard]] Entry entry() const { return entry_; }
  // Where its code lies, without a label.
  [[nodiscard]] const CodeRange& code() const { return code_; }
  // A number for SwitchTo(); its variables are as the library was loaded.
  size_t AddCore();
  void SwitchTo(size_t core);

 private:
  struct Range {
    char* begin = nullptr;
    size_t size = 0;
  };
  void FindVariables(void* handle);
  [[nodiscard]] std::string Read() const;
  void Write(const std::string& bytes);

  Entry entry_ = nullptr;
  CodeRange code_;
  std::vector<Range> ranges_;
  std::string fresh_;
  std::vector<std::string> saved_;  // by core; empty: not run yet
  size_t owner_ = SIZE_MAX;
};

}  // namespace kerf::sim

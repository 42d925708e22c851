// Loads a candidate that was built against simt/ and calls it in a child process, on buffers that
// end at a guard page, as kerf's judge does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kerf {

enum class Element { kFloat, kInt, kHalf };

struct Buffer {
  std::string name;
  Element element = Element::kFloat;
  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes;  // values of an input; of an output after the call

  template <typename T>
  [[nodiscard]] std::vector<T> as() const {
    const auto* p = reinterpret_cast<const T*>(bytes.data());
    return std::vector<T>(p, p + bytes.size() / sizeof(T));
  }
};
Buffer Floats(const std::string& name, std::vector<int64_t> shape,
              const std::vector<float>& values);
Buffer Ints(const std::string& name, const std::vector<int>& values);
Buffer Output(const std::string& name, Element element, std::vector<int64_t> shape);

struct CandidateRun {
  int returned = -1;   // by kerf_kernel; -1 when it did not return
  int exit_code = -1;  // of the child; 128 + the signal's number when one killed it
  Buffer output;
  std::vector<std::string> findings;  // JSON lines
};

struct RunSetup {
  int threads = 1;
  bool strict = false;
  uint32_t time_limit_ms = 0;
};
CandidateRun RunCandidate(const std::string& library, const std::vector<Buffer>& inputs,
                          const Buffer& output, const RunSetup& setup = {});

}  // namespace kerf

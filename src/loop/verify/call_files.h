// The two files of a call: what goes in, and what comes out.
//
//   KERF_ASSIGN_OR_RETURN(InputFile in, InputFile::Make(reference, one_case, Placement::kAtStart,
//   threads, {})); KERF_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Make(in, one_case));
//   out.Poison(random);                      // before each call
//   … runner.Call(in, out) …
//   out.TakeSnapshot();                      // at once: what is not there now does not count
//
// Every tensor has pages of its own with guard pages around it, and lies against the first or the
// last of them: overrunning it by one element is a fault in one of the two placements. What room is
// left in its pages is filled with canaries.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "artifact/reference.h"
#include "base/child_posix.h"
#include "base/result.h"
#include "loop/verify/poison.h"
#include "loop/verify/wire.h"

namespace kerf::verify {

enum class Placement { kAtStart, kAtEnd };

// A mapping that ends with its owner.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  // `bytes` may be 0: nothing is mapped then.
  static Result<Mapping> Map(int fd, uint64_t bytes, bool writable);
  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
};

// The bytes of a case's file in the cache.
Result<Mapping> MapFile(const std::string& path);

// Changes an input before it is sealed: how timed calls get values nobody has seen. Index of the
// input or parameter, its spec, its bytes.
using Touch = std::function<void(const StoredTensor&, char*)>;

class InputFile {
 public:
  static Result<InputFile> Make(const Reference& reference, const ReferenceCase& one,
                                const Mapping& stored, Placement placement, int threads,
                                const Touch& touch = {});
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::vector<WireTensor>& outputs() const { return outputs_; }
  [[nodiscard]] uint64_t output_bytes() const { return output_bytes_; }
  // Of everything in the file; the seal makes a change impossible, this shows that it held.
  [[nodiscard]] uint64_t Checksum() const;

 private:
  Fd fd_;
  Mapping map_;
  std::vector<WireTensor> outputs_;
  uint64_t output_bytes_ = 0;
};

class OutputFile {
 public:
  static Result<OutputFile> Make(const InputFile& input);
  [[nodiscard]] int fd() const { return fd_.get(); }
  // Fills everything: tensors with a pattern that cannot be right, the rest with canaries.
  void Poison(uint64_t random);
  // Copies the tensors as they are now.
  void TakeSnapshot();
  // Of output i, in the snapshot.
  [[nodiscard]] const char* data(size_t i) const;
  // What output i was filled with.
  [[nodiscard]] const PoisonPattern& poison(size_t i) const { return patterns_.at(i); }
  // Empty, or which canary was overwritten: "3 bytes before output0".
  [[nodiscard]] std::string DamagedCanary() const;

 private:
  Fd fd_;
  Mapping map_;
  std::vector<WireTensor> tensors_;
  std::vector<PoisonPattern> patterns_;
  uint64_t canary_ = 0;
  std::vector<char> snapshot_;
};

}  // namespace kerf::verify

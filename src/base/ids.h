// Random identifiers are injected, so that tests and replays can repeat them.
#pragma once

#include <cstdint>
#include <memory>

namespace kerf {

class IdSource {
 public:
  virtual ~IdSource() = default;
  virtual uint64_t Next() = 0;
};

// From the kernel's random generator.
std::unique_ptr<IdSource> MakeRandomIds();

// 1, 2, 3 …
class FakeIds : public IdSource {
 public:
  uint64_t Next() override { return ++last_; }

 private:
  uint64_t last_ = 0;
};

}  // namespace kerf

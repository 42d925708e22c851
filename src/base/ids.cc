#include "base/ids.h"

#include <sys/random.h>

#include "base/check.h"

namespace kerf {
namespace {

class RandomIds : public IdSource {
 public:
  uint64_t Next() override {
    uint64_t id = 0;
    KERF_CHECK(getrandom(&id, sizeof id, 0) == sizeof id, "the kernel gives random bytes");
    return id;
  }
};

}  // namespace

std::unique_ptr<IdSource> MakeRandomIds() { return std::make_unique<RandomIds>(); }

}  // namespace kerf

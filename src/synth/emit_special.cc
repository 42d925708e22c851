#include "synth/emit_special.h"

#include "base/check.h"

namespace kerf::synth {

GroupFunction EmitSpecial(const Plan&, int, const EmitNames&, const std::string&, std::set<std::string>&) {
  KERF_CHECK(false, "no special algorithm");
}

}  // namespace kerf::synth

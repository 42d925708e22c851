// Instructions that pto-isa documents and kerf does not simulate: using one says so, and where it
// belongs.
#pragma once

#include "kerf_pto/call.h"

namespace kerf_pto {
template <typename... T>
inline constexpr bool kNever = false;
}

#define KERF_PTO_MISSING(NAME)                                                                   \
  template <typename... T>                                                                       \
  RecordEvent NAME(T&&...) {                                                                     \
    static_assert(kerf_pto::kNever<T...>,                                                        \
                  "kerf: the instruction " #NAME                                                 \
                  " is not simulated yet; it would be added in pto/kerf_pto/vector.h or move.h " \
                  "and in src/sim/machine");                                                     \
    return {};                                                                                   \
  }

namespace pto {
// Convolutions: documents leave to the implementation what their configuration means and in which
// order the columns of the result lie.
KERF_PTO_MISSING(TIMG2COL)
KERF_PTO_MISSING(SETFMATRIX)
KERF_PTO_MISSING(SET_IMG2COL_RPT)
KERF_PTO_MISSING(SET_IMG2COL_PADDING)
// The cipher is described as "ChaCha-like", which no two implementations would agree on.
KERF_PTO_MISSING(TRANDOM)
// Of a chip that kerf has no description of.
KERF_PTO_MISSING(TMATMUL_MX_HIF4)
KERF_PTO_MISSING(TQUANT_HIF4)
}  // namespace pto

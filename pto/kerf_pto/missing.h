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
KERF_PTO_MISSING(TADDC)
KERF_PTO_MISSING(TSUBC)
KERF_PTO_MISSING(TADDSC)
KERF_PTO_MISSING(TSUBSC)
KERF_PTO_MISSING(TSELS)
KERF_PTO_MISSING(TTRI)
KERF_PTO_MISSING(TIMG2COL)
KERF_PTO_MISSING(TMOV_FP)
KERF_PTO_MISSING(TSTORE_FP)
KERF_PTO_MISSING(TQUANT)
KERF_PTO_MISSING(TDEQUANT)
KERF_PTO_MISSING(TPRINT)
KERF_PTO_MISSING(TSETFMATRIX)
KERF_PTO_MISSING(TSET_IMG2COL_RPT)
KERF_PTO_MISSING(TSET_IMG2COL_PADDING)
KERF_PTO_MISSING(THISTOGRAM)
KERF_PTO_MISSING(TFMOD)
KERF_PTO_MISSING(TFMODS)
KERF_PTO_MISSING(TPACK)
KERF_PTO_MISSING(TRANDOM)
}  // namespace pto

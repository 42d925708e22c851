// Programs that run emitted contractions beside plain loops, for tests.
//
// Elements are small whole numbers, so that every sum is exact in every type and order of addition:
// results are compared for equality. Attention is compared with double precision within a bound.
#pragma once

#include <string>
#include <vector>

#include "synth/contraction.h"

namespace kerf::synth {

// One emitted function and the text of a function `bool Check_NAME(int threads)` that judges it.
struct CheckedCase {
  std::string name;
  std::string text;
};

CheckedCase CheckedMatmul(const MatmulSpec& spec, const std::string& name, const CpuTarget& target);
CheckedCase CheckedConv(const ConvSpec& spec, const std::string& name, const CpuTarget& target);
CheckedCase CheckedAttention(const AttentionSpec& spec, const std::string& name,
                             const CpuTarget& target);

// Contiguous operands of a product; a transposed one is stored as its transpose.
MatmulSpec PlainMatmul(int64_t batch, int64_t m, int64_t n, int64_t k, bool a_transposed,
                       bool b_transposed, DType dtype);
AttentionSpec PlainAttention(int64_t batch, int64_t queries, int64_t keys, int64_t depth,
                             int64_t value_depth, DType dtype);

// Compiles all cases into one program under the address and undefined-behaviour sanitizers, as the
// verifier compiles candidates otherwise, and runs it with one, two and three threads. Empty: all
// are right; "skipped: …" when there is no compiler; else what went wrong.
std::string RunCases(const std::vector<CheckedCase>& cases, const CpuTarget& target);

}  // namespace kerf::synth

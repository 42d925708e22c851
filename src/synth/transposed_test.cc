// The terms of a transposed convolution against its definition, tap by tap. Indices are computed as
// the emitted code does it: with quotients that round towards zero.
#include "synth/transposed.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace kerf::synth {
namespace {

using Values = std::vector<int64_t>;  // of the variables

int64_t Evaluate(const Index& index, const Values& at) {
  int64_t sum = index.constant();
  for (const IndexTerm& term : index.terms()) {
    const Atom& atom = *term.atom;
    int64_t one = 0;
    if (atom.kind == Atom::Kind::kVar) one = at[static_cast<size_t>(atom.var)];
    if (atom.kind == Atom::Kind::kDiv) one = Evaluate(atom.inner, at) / atom.divisor;
    if (atom.kind == Atom::Kind::kMod) one = Evaluate(atom.inner, at) % atom.divisor;
    sum += term.factor * one;
  }
  return sum;
}

// Bounds that the range of an index settles are not asked in the emitted code either.
bool Holds(const ExprPtr& guard, const Values& at) {
  if (guard->op == Op::kConst) return guard->integer != 0;
  if (guard->op == Op::kAnd) return Holds(guard->args[0], at) && Holds(guard->args[1], at);
  EXPECT_EQ(guard->op, Op::kInRange);
  const auto range = guard->index.Range();
  const int64_t value = Evaluate(guard->index, at);
  return (range->least >= guard->low || value >= guard->low) &&
         (range->most < guard->high || value < guard->high);
}

struct Case {
  int64_t input, taps, stride, padding, dilation;
  TransposedWalk walk;
};

class TransposedTerms : public ::testing::TestWithParam<Case> {};

using Meeting = std::tuple<int64_t, int64_t, int64_t>;  // output, input, tap

std::set<Meeting> ByDefinition(const Case& c, int64_t size) {
  std::set<Meeting> meetings;
  for (int64_t in = 0; in < c.input; ++in) {
    for (int64_t tap = 0; tap < c.taps; ++tap) {
      const int64_t out = in * c.stride - c.padding + tap * c.dilation;
      if (out >= 0 && out < size) meetings.insert({out, in, tap});
    }
  }
  return meetings;
}

TEST_P(TransposedTerms, MeetAsTheDefinitionSays) {
  const Case& c = GetParam();
  const int64_t size = (c.input - 1) * c.stride - 2 * c.padding + c.dilation * (c.taps - 1) + 1;
  ConvolutionShape shape;
  shape.stride = {c.stride}, shape.padding = {c.padding}, shape.dilation = {c.dilation};
  const TransposedTerm term =
      WalkTransposed(shape, {1, 1, c.input}, {1, 1, c.taps}, {1, 1, size}, c.walk);
  std::set<Meeting> found;
  for (int64_t out = 0; out < size; ++out) {
    for (int64_t step = 0; step < term.reduced[1]; ++step) {
      const Values at = {0, 0, out, 0, step};
      if (Holds(term.inside, at))
        found.insert({out, Evaluate(term.input[2], at), Evaluate(term.weight[2], at)});
    }
  }
  EXPECT_EQ(found, ByDefinition(c, size));
}

INSTANTIATE_TEST_SUITE_P(Synth, TransposedTerms,
                         ::testing::Values(Case{7, 3, 1, 0, 1, TransposedWalk::kInputs},
                                           Case{7, 3, 2, 1, 1, TransposedWalk::kInputs},
                                           Case{7, 3, 2, 1, 1, TransposedWalk::kTaps},
                                           // Negative sums whose remainder looks like none.
                                           Case{7, 4, 3, 0, 2, TransposedWalk::kInputs},
                                           Case{5, 3, 2, 1, 3, TransposedWalk::kInputs},
                                           Case{5, 4, 2, 0, 4, TransposedWalk::kInputs},
                                           Case{9, 5, 4, 3, 2, TransposedWalk::kTaps}));

}  // namespace
}  // namespace kerf::synth

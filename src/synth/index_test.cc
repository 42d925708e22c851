#include "synth/index.h"

#include <gtest/gtest.h>

#include "synth/expr.h"

namespace kerf::synth {
namespace {

const Index kI = Index::Var(0, 8);
const Index kJ = Index::Var(1, 5);

TEST(Index, DividesWhatTheExtentsDecide) {
  const Index flat = kI * 5 + kJ;
  EXPECT_EQ(flat.Div(5), kI);
  EXPECT_EQ(flat.Mod(5), kJ);
  EXPECT_EQ((flat + Index(40)).Div(40), Index(1));
}

TEST(Index, PutsTogetherWhatAReshapeTookApart) {
  const Index v = Index::Var(0, 120);
  const Index again = v.Div(15) * 15 + v.Div(5).Mod(3) * 5 + v.Mod(5);
  EXPECT_EQ(again, v);
}

TEST(Index, KeepsQuotientsItCannotDecide) {
  const Index v = Index::Var(0, 120);
  EXPECT_FALSE(v.Div(7).IsAffine());
  EXPECT_FALSE(v.Div(7).Stride(0).has_value());
  EXPECT_EQ(v.Div(7).Range()->most, 17);
}

TEST(Index, NestedQuotientsAreOne) {
  const Index v = Index::Var(0, 120);
  EXPECT_EQ(v.Div(4).Div(5), v.Div(20));
  EXPECT_EQ(v.Mod(20).Mod(5), v.Mod(5));
  EXPECT_EQ(v.Mod(20).Div(5), v.Div(5).Mod(4));
}

TEST(Index, DividesTheLeadingPartAlone) {
  const Index b = Index::Var(2, 256);
  const Index flat = b * 40 + kI * 5 + kJ;
  EXPECT_EQ(flat.Div(40 * 32), b.Div(32));
  EXPECT_EQ(flat.Mod(40 * 32), b.Mod(32) * 40 + kI * 5 + kJ);
}

TEST(Index, AnAxisOfOneIsZero) { EXPECT_EQ(Index::Var(3, 1), Index(0)); }

TEST(Index, KnowsStridesAndRanges) {
  const Index place = kI * -5 + kJ * 2 + Index(7);
  EXPECT_EQ(place.Stride(0), -5);
  EXPECT_EQ(place.Stride(1), 2);
  EXPECT_EQ(place.Stride(2), 0);
  EXPECT_EQ(place.Range()->least, 7 - 35);
  EXPECT_EQ(place.Range()->most, 7 + 8);
}

// Every rule at once: the simplified index has the value of the plain one.
TEST(Index, SimplifyingChangesNoValue) {
  const Index flat = kI * 5 + kJ;
  const auto value = [](const Index& index, int64_t i, int64_t j) {
    return index
        .Replace([&](int var, int64_t) { return Index(var == 0 ? i : j); },
                 [](const ExprPtr& e) { return e; })
        .constant();
  };
  for (const int64_t a : {2, 3, 4, 5, 7, 10, 20, 40}) {
    for (const int64_t b : {2, 3, 5, 6}) {
      for (int64_t i = 0; i < 8; ++i) {
        for (int64_t j = 0; j < 5; ++j) {
          const int64_t f = i * 5 + j;
          EXPECT_EQ(value(flat.Div(a).Mod(b) * 3 + flat.Mod(a), i, j), f / a % b * 3 + f % a);
          EXPECT_EQ(value((flat * 2 + Index(3)).Mod(a).Div(b), i, j), (f * 2 + 3) % a / b);
        }
      }
    }
  }
}

// C++ rounds towards zero; the rules round down. They agree where nothing is negative.
TEST(Index, NeverDividesANegativeSum) {
  for (const int64_t shift : {-9, -2, 0, 1, 2, 3, 4, 17}) {
    for (const int64_t divisor : {2, 3, 4}) {
      const Index place = kI - kJ + Index(shift);
      int atoms = 0;
      const auto check = [&](const Atom& atom) {
        if (atom.kind != Atom::Kind::kDiv && atom.kind != Atom::Kind::kMod) return;
        ++atoms;
        EXPECT_GE(atom.inner.Range()->least, 0) << shift << " by " << divisor;
      };
      place.Mod(divisor).VisitAtoms(check);
      place.Div(divisor).VisitAtoms(check);
      EXPECT_GE(atoms, 2);
    }
  }
}

TEST(Expr, RangesDecideGuards) {
  EXPECT_EQ(InRange(kI, 0, 8)->op, Op::kConst);
  EXPECT_EQ(InRange(kI - Index(1), 0, 8)->op, Op::kInRange);
  EXPECT_EQ(InRange(kI, 8, 9)->integer, 0);
}

}  // namespace
}  // namespace kerf::synth

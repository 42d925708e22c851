// Quotients and remainders are kept as atoms of the sum. Two rules make most of them vanish:
// (c*A + B) / c = A when 0 <= B < c, and k*b*(e / (a*b)) + k*((e / a) % b) = k*(e / a).
#include "synth/index.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "synth/expr.h"

namespace kerf::synth {

uint64_t MixHash(uint64_t seed, uint64_t value) {
  uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 29;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 32);
}

int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

namespace {

AtomPtr MakeAtom(Atom atom) {
  uint64_t h = MixHash(17, static_cast<uint64_t>(atom.kind));
  switch (atom.kind) {
    case Atom::Kind::kVar:
      h = MixHash(h, static_cast<uint64_t>(atom.var));
      break;
    case Atom::Kind::kDiv:
    case Atom::Kind::kMod:
      h = MixHash(MixHash(h, atom.inner.hash()), static_cast<uint64_t>(atom.divisor));
      break;
    case Atom::Kind::kValue:
      h = MixHash(h, atom.value->hash);
      break;
  }
  atom.hash = h;
  return std::make_shared<const Atom>(std::move(atom));
}

}  // namespace

Index Index::FromAtom(AtomPtr atom) {
  Index index;
  index.terms_.push_back({1, std::move(atom)});
  return index;
}

Index Index::Var(int id, int64_t extent) {
  if (extent == 1) return {0};
  return FromAtom(MakeAtom({.kind = Atom::Kind::kVar, .var = id, .extent = extent}));
}

Index Index::Value(ExprPtr value) {
  if (value->op == Op::kIndexValue) return value->index;
  if (value->op == Op::kConst) return {value->integer};
  return FromAtom(MakeAtom({.kind = Atom::Kind::kValue, .value = std::move(value)}));
}

void Index::Add(const IndexTerm& term) {
  if (term.factor == 0) return;
  auto at = std::lower_bound(terms_.begin(), terms_.end(), term, [](const auto& a, const auto& b) {
    return a.atom->hash < b.atom->hash;
  });
  if (at != terms_.end() && at->atom->hash == term.atom->hash) {
    at->factor += term.factor;
    if (at->factor == 0) terms_.erase(at);
  } else {
    terms_.insert(at, term);
  }
}

Index Index::operator+(const Index& other) const {
  Index sum = *this;
  sum.constant_ += other.constant_;
  for (const IndexTerm& term : other.terms_) sum.Add(term);
  sum.Combine();
  return sum;
}

Index Index::operator-(const Index& other) const { return *this + other * -1; }

Index Index::operator*(int64_t factor) const {
  Index product(constant_ * factor);
  if (factor == 0) return product;
  product.terms_ = terms_;
  for (IndexTerm& term : product.terms_) term.factor *= factor;
  return product;
}

void Index::Combine() {
  while (CombineOnce()) {
  }
}

bool Index::CombineOnce() {
  for (const IndexTerm& rest : terms_) {
    if (rest.atom->kind != Atom::Kind::kMod) continue;
    const Index& inner = rest.atom->inner;
    const int64_t b = rest.atom->divisor;
    const Index quotient = inner.Div(b);
    // The whole quotient must be there, with b times the factor: one term, or a sum of several.
    if (quotient.terms_.size() != 1 || quotient.constant_ != 0 || quotient.terms_[0].factor != 1)
      continue;
    for (const IndexTerm& main : terms_) {
      if (main.atom->hash != quotient.terms_[0].atom->hash || main.factor != rest.factor * b)
        continue;
      const Index joined = inner * rest.factor;
      const IndexTerm drop_main = {-main.factor, main.atom};
      const IndexTerm drop_rest = {-rest.factor, rest.atom};
      Add(drop_main);
      Add(drop_rest);
      constant_ += joined.constant_;
      for (const IndexTerm& term : joined.terms_) Add(term);
      return true;
    }
  }
  return false;
}

std::optional<IndexRange> Index::Range() const {
  IndexRange range{constant_, constant_};
  for (const IndexTerm& term : terms_) {
    IndexRange one;
    switch (term.atom->kind) {
      case Atom::Kind::kVar:
        one = {0, term.atom->extent - 1};
        break;
      case Atom::Kind::kMod:
        one = {0, term.atom->divisor - 1};
        break;
      case Atom::Kind::kDiv: {
        const auto inner = term.atom->inner.Range();
        if (!inner) return std::nullopt;
        one = {FloorDiv(inner->least, term.atom->divisor),
               FloorDiv(inner->most, term.atom->divisor)};
        break;
      }
      case Atom::Kind::kValue:
        return std::nullopt;
    }
    const int64_t a = one.least * term.factor;
    const int64_t b = one.most * term.factor;
    range.least += std::min(a, b);
    range.most += std::max(a, b);
  }
  return range;
}

namespace {

// c*A + B with B as small as possible.
struct Split {
  Index multiple;  // A
  Index rest;      // B
};

Split SplitBy(const Index& index, int64_t divisor) {
  Split split;
  for (const IndexTerm& term : index.terms()) {
    Index one = Index(0);
    if (term.atom->kind == Atom::Kind::kVar) {
      one = Index::Var(term.atom->var, term.atom->extent);
    } else if (term.atom->kind == Atom::Kind::kValue) {
      one = Index::Value(term.atom->value);
    } else {
      one = term.atom->kind == Atom::Kind::kDiv ? term.atom->inner.Div(term.atom->divisor)
                                                : term.atom->inner.Mod(term.atom->divisor);
    }
    if (term.factor % divisor == 0) {
      split.multiple = split.multiple + one * (term.factor / divisor);
    } else {
      split.rest = split.rest + one * term.factor;
    }
  }
  const int64_t whole = FloorDiv(index.constant(), divisor);
  split.multiple = split.multiple + Index(whole);
  split.rest = split.rest + Index(index.constant() - whole * divisor);
  return split;
}

bool Within(const Index& index, int64_t end) {
  const auto range = index.Range();
  return range && range->least >= 0 && range->most < end;
}

// Divides factors and divisor by what they share: (6i + 4) / 8 is (3i + 2) / 4.
int64_t CommonFactor(const Index& index, int64_t divisor) {
  int64_t g = divisor;
  for (const IndexTerm& term : index.terms()) g = std::gcd(g, term.factor);
  return std::gcd(g, index.constant());
}

}  // namespace

namespace {

// How many divisors to add so that the sum is never negative: C++ rounds towards zero, and what is
// taken out of a sum above assumes that quotients are rounded down.
int64_t LiftOf(const Index& index, int64_t divisor) {
  const auto range = index.Range();
  if (!range || range->least >= 0) return 0;
  return -FloorDiv(range->least, divisor);
}

// The largest g that divides the divisor and for which index = g*A + B with 0 <= B < g; 1 when
// there is none. Then index / (g*c) = A / c, and index % (g*c) = g*(A % c) + B.
int64_t CleanUnit(const Index& index, int64_t divisor) {
  int64_t best = 1;
  for (const IndexTerm& term : index.terms()) {
    const int64_t unit = std::gcd(term.factor, divisor);
    if (unit > best && unit < divisor && Within(SplitBy(index, unit).rest, unit)) best = unit;
  }
  return best;
}

}  // namespace

Index Index::Div(int64_t divisor) const {
  KERF_CHECK(divisor > 0, "an index is divided by a positive number");
  if (divisor == 1) return *this;
  const Split split = SplitBy(*this, divisor);
  if (Within(split.rest, divisor)) return split.multiple;
  if (const int64_t unit = CleanUnit(split.rest, divisor); unit > 1)
    return split.multiple + SplitBy(split.rest, unit).multiple.Div(divisor / unit);
  const int64_t shared = CommonFactor(split.rest, divisor);
  if (shared > 1) {
    Index smaller(split.rest.constant_ / shared);
    for (const IndexTerm& term : split.rest.terms_) smaller.Add({term.factor / shared, term.atom});
    return split.multiple + smaller.Div(divisor / shared);
  }
  const Index& rest = split.rest;
  // (e / a) / b is e / (a*b).
  if (rest.constant_ == 0 && rest.terms_.size() == 1 && rest.terms_[0].factor == 1 &&
      rest.terms_[0].atom->kind == Atom::Kind::kDiv) {
    return split.multiple + rest.terms_[0].atom->inner.Div(rest.terms_[0].atom->divisor * divisor);
  }
  // (e % (b*c)) / b is (e / b) % c.
  if (rest.constant_ == 0 && rest.terms_.size() == 1 && rest.terms_[0].factor == 1 &&
      rest.terms_[0].atom->kind == Atom::Kind::kMod &&
      rest.terms_[0].atom->divisor % divisor == 0) {
    const Atom& atom = *rest.terms_[0].atom;
    return split.multiple + atom.inner.Div(divisor).Mod(atom.divisor / divisor);
  }
  const int64_t lift = LiftOf(rest, divisor);
  return split.multiple - Index(lift) +
         FromAtom(MakeAtom({.kind = Atom::Kind::kDiv,
                            .inner = rest + Index(lift * divisor),
                            .divisor = divisor}));
}

Index Index::Mod(int64_t divisor) const {
  KERF_CHECK(divisor > 0, "a remainder needs a positive divisor");
  if (divisor == 1) return {0};
  const Index rest = SplitBy(*this, divisor).rest;
  if (Within(rest, divisor)) return rest;
  if (const int64_t unit = CleanUnit(rest, divisor); unit > 1) {
    const Split parts = SplitBy(rest, unit);
    return parts.multiple.Mod(divisor / unit) * unit + parts.rest;
  }
  if (rest.constant_ == 0 && rest.terms_.size() == 1 && rest.terms_[0].factor == 1 &&
      rest.terms_[0].atom->kind == Atom::Kind::kMod &&
      rest.terms_[0].atom->divisor % divisor == 0) {
    return rest.terms_[0].atom->inner.Mod(divisor);
  }
  // (g*e) % (g*c) is g*(e % c).
  const int64_t shared = CommonFactor(rest, divisor);
  if (shared > 1) {
    Index smaller(rest.constant_ / shared);
    for (const IndexTerm& term : rest.terms_) smaller.Add({term.factor / shared, term.atom});
    return smaller.Mod(divisor / shared) * shared;
  }
  return FromAtom(MakeAtom({.kind = Atom::Kind::kMod,
                            .inner = rest + Index(LiftOf(rest, divisor) * divisor),
                            .divisor = divisor}));
}

std::optional<int> Index::AsVar() const {
  if (constant_ != 0 || terms_.size() != 1 || terms_[0].factor != 1 ||
      terms_[0].atom->kind != Atom::Kind::kVar)
    return std::nullopt;
  return terms_[0].atom->var;
}

bool Index::IsAffine() const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [](const IndexTerm& term) { return term.atom->kind == Atom::Kind::kVar; });
}

std::optional<int64_t> Index::Stride(int var) const {
  int64_t stride = 0;
  for (const IndexTerm& term : terms_) {
    if (term.atom->kind == Atom::Kind::kVar) {
      if (term.atom->var == var) stride += term.factor;
      continue;
    }
    std::vector<int> vars;
    FromAtom(term.atom).CollectVars(vars);
    if (std::find(vars.begin(), vars.end(), var) != vars.end()) return std::nullopt;
  }
  return stride;
}

bool Index::Mentions(int var) const {
  std::vector<int> vars;
  CollectVars(vars);
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

void Index::VisitAtoms(const std::function<void(const Atom&)>& visit) const {
  for (const IndexTerm& term : terms_) {
    visit(*term.atom);
    if (term.atom->kind == Atom::Kind::kDiv || term.atom->kind == Atom::Kind::kMod)
      term.atom->inner.VisitAtoms(visit);
  }
}

void Index::CollectVars(std::vector<int>& vars) const {
  VisitAtoms([&](const Atom& atom) {
    if (atom.kind == Atom::Kind::kVar) vars.push_back(atom.var);
    if (atom.kind == Atom::Kind::kValue) CollectExprVars(atom.value, vars);
  });
}

Index Index::Replace(const Substitution& replace, const ExprMap& map) const {
  Index result(constant_);
  for (const IndexTerm& term : terms_) {
    const Atom& atom = *term.atom;
    switch (atom.kind) {
      case Atom::Kind::kVar:
        result = result + replace(atom.var, atom.extent) * term.factor;
        break;
      case Atom::Kind::kDiv:
        result = result + atom.inner.Replace(replace, map).Div(atom.divisor) * term.factor;
        break;
      case Atom::Kind::kMod:
        result = result + atom.inner.Replace(replace, map).Mod(atom.divisor) * term.factor;
        break;
      case Atom::Kind::kValue:
        result = result + Index::Value(map(atom.value)) * term.factor;
        break;
    }
  }
  return result;
}

uint64_t Index::hash() const {
  uint64_t h = MixHash(3, static_cast<uint64_t>(constant_));
  for (const IndexTerm& term : terms_)
    h = MixHash(MixHash(h, static_cast<uint64_t>(term.factor)), term.atom->hash);
  return h;
}

}  // namespace kerf::synth

// Where an element lies: sums of loop variables, with the quotients and remainders that reshapes
// bring. Views cost nothing because they are only other sums.
//
//   Index i = Index::Var(0, 8), j = Index::Var(1, 5);
//   Index flat = i * 5 + j;
//   flat.Div(5)   // i: 0 <= j < 5 is known from the variable's extent
//
// Values are exact for non-negative sums; a negative one only occurs under a guard that keeps
// anybody from using it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kerf::synth {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;
struct Atom;
using AtomPtr = std::shared_ptr<const Atom>;

struct IndexTerm {
  int64_t factor = 0;
  AtomPtr atom;
};

struct IndexRange {
  int64_t least = 0;
  int64_t most = 0;
};

class Index {
 public:
  Index(int64_t constant = 0) : constant_(constant) {}  // NOLINT: numbers are indices
  static Index Var(int id, int64_t extent);
  // An index that is read from data, such as a row of an embedding.
  static Index Value(ExprPtr value);

  Index operator+(const Index& other) const;
  Index operator-(const Index& other) const;
  Index operator*(int64_t factor) const;
  [[nodiscard]] Index Div(int64_t divisor) const;
  [[nodiscard]] Index Mod(int64_t divisor) const;

  [[nodiscard]] int64_t constant() const { return constant_; }
  [[nodiscard]] const std::vector<IndexTerm>& terms() const { return terms_; }
  [[nodiscard]] bool is_constant() const { return terms_.empty(); }
  // The variable when the index is exactly one.
  [[nodiscard]] std::optional<int> AsVar() const;
  // Nothing but variables.
  [[nodiscard]] bool IsAffine() const;
  // Nothing when data decide.
  [[nodiscard]] std::optional<IndexRange> Range() const;
  // How much one step of the variable moves the index; nothing when that depends on where it is.
  [[nodiscard]] std::optional<int64_t> Stride(int var) const;
  [[nodiscard]] bool Mentions(int var) const;
  // All variables, also those inside quotients and data.
  void CollectVars(std::vector<int>& vars) const;
  void VisitAtoms(const std::function<void(const Atom&)>& visit) const;

  using Substitution = std::function<Index(int var, int64_t extent)>;
  using ExprMap = std::function<ExprPtr(const ExprPtr&)>;
  // Replaces variables; `map` rewrites the data that indices are read from.
  [[nodiscard]] Index Replace(const Substitution& replace, const ExprMap& map) const;

  [[nodiscard]] uint64_t hash() const;
  bool operator==(const Index& other) const { return hash() == other.hash(); }

 private:
  static Index FromAtom(AtomPtr atom);
  void Add(const IndexTerm& term);
  void Combine();
  bool CombineOnce();

  int64_t constant_ = 0;
  std::vector<IndexTerm> terms_;  // by hash of the atom, no factor is zero
};

struct Atom {
  enum class Kind { kVar, kDiv, kMod, kValue };
  Kind kind = Kind::kVar;
  int var = 0;
  int64_t extent = 0;  // of a variable
  Index inner;         // of a quotient or remainder
  int64_t divisor = 0;
  ExprPtr value;
  uint64_t hash = 0;
};

uint64_t MixHash(uint64_t seed, uint64_t value);
int64_t FloorDiv(int64_t a, int64_t b);

}  // namespace kerf::synth

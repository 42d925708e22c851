// Expressions and indices as C++ text.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "synth/program.h"

namespace kerf::synth {

const char* CppType(DType type);     // of a value in a register
const char* StoredType(DType type);  // of an element in memory
// "3.5f", "kInfinity<float>", "int64_t{7}"
std::string Literal(const Expr& constant);

// Without the parentheses around the whole.
std::string Unwrapped(const std::string& text);

// Lines of C++ with two spaces for each level.
class CodeText {
 public:
  void Line(const std::string& text);
  void Open(const std::string& text);  // text and {, deeper from here
  void Close(const std::string& tail = "");
  void Comment(const std::string& text);
  void Blank() { text_ += "\n"; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] int depth() const { return depth_; }
  void set_depth(int depth) { depth_ = depth; }

 private:
  std::string text_;
  int depth_ = 0;
};

class ExprWriter {
 public:
  using LoadText = std::function<std::string(const Expr& load)>;
  ExprWriter(std::set<std::string>& helpers, std::function<std::string(int)> var_name,
             LoadText load)
      : helpers_(helpers), var_name_(std::move(var_name)), load_(std::move(load)) {}

  // From here on in CUDA's words: expf for exp_float and std::exp, half types by intrinsics.
  void WriteCuda() { cuda_ = true; }

  std::string Text(const Index& index);
  std::string Text(const ExprPtr& value);
  // Forgets names, and counts how often each part of the values is used.
  void Begin(const std::vector<ExprPtr>& values);
  // Writes `const float v1 = …` for what is used more than once or would make lines too long.
  // `may_name` says which loads may be read ahead of their use.
  void NameParts(const ExprPtr& value, CodeText& code,
                 const std::function<bool(const Expr&)>& may_name);
  [[nodiscard]] bool IsNamed(const ExprPtr& value) const { return names_.count(value->hash) > 0; }
  void SetName(const ExprPtr& value, std::string name) { names_[value->hash] = std::move(name); }

 private:
  std::string AtomTextOf(const Atom& atom);
  std::string OpText(const Expr& e);
  std::string Call(const std::string& name, const Expr& e, const char* helper = nullptr);
  std::string UnaryText(const Expr& e);
  std::string BinaryText(const Expr& e);
  std::string FusedText(const Expr& e);
  std::string CastText(const Expr& e);
  [[nodiscard]] std::string MathText(const char* name, bool is_float) const;

  bool cuda_ = false;
  std::set<std::string>& helpers_;
  std::function<std::string(int)> var_name_;
  LoadText load_;
  std::map<uint64_t, std::string> names_;
  std::map<uint64_t, int> uses_;
  int next_name_ = 0;
};

}  // namespace kerf::synth

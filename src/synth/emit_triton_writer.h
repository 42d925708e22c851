// Expressions as Triton's Python. Values are blocks with up to two axes; every loop variable lies
// along one of them, or is the same for the whole program.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "synth/emit_expr.h"
#include "synth/program.h"

namespace kerf::synth {

const char* TritonType(DType type);  // "tl.float32"; of an element in memory
// Python text of a number of that type.
std::string TritonNumber(DType type, double number, int64_t integer);

// Lines of Python with four spaces for each level.
class PythonText {
 public:
  void Line(const std::string& text) {
    if (!text.empty()) text_ += std::string(static_cast<size_t>(depth_) * 4, ' ');
    text_ += text + "\n";
  }
  void Open(const std::string& text) {
    Line(text);
    ++depth_;
  }
  void Close() { --depth_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

struct TritonVar {
  std::string text;
  int axis = -1;  // of the block; -1: one number for the program
};

class TritonWriter {
 public:
  // A tensor that this kernel itself has as a value, empty when it must be read from memory.
  using Known = std::function<std::string(const Expr& load)>;
  TritonWriter(const Program& program, const std::vector<std::string>& names,
               std::set<std::string>& helpers, PythonText& code, Known known)
      : program_(program),
        names_(names),
        helpers_(helpers),
        code_(code),
        known_(std::move(known)) {}

  std::map<int, TritonVar> vars;
  // What must hold for an element of the block to exist, by axis; empty: it always does.
  std::string bound[2];
  // Why something could not be written; empty when all was.
  std::string refused;

  // Forgets the names of parts, and counts uses in the next expressions.
  void Begin(const std::vector<ExprPtr>& values);
  std::string Text(const ExprPtr& value);
  std::string Text(const Index& index);
  // The memory of an element: "x + row * 64 + col".
  std::string Address(int tensor, const std::vector<Index>& indices);
  // ", mask=…" for an access at such a place; empty where none is needed.
  std::string Mask(const std::vector<Index>& indices);
  // The element as it is stored, without conversion.
  std::string Raw(const Expr& load);

 private:
  std::string Write(const Expr& e);
  std::string LoadText(const Expr& e);
  std::string SelectText(const Expr& e);
  std::string UnaryText(const Expr& e);
  std::string BinaryText(const Expr& e);
  std::string Call(const std::string& name, const Expr& e, bool helper = true);
  std::string Refuse(const std::string& what);
  [[nodiscard]] std::set<int> AxesOf(const std::vector<Index>& indices) const;

  const Program& program_;
  const std::vector<std::string>& names_;
  std::set<std::string>& helpers_;
  PythonText& code_;
  Known known_;
  std::string guard_;  // of the choice being written
  std::set<int> guard_axes_;
  std::map<uint64_t, int> uses_;
  std::map<std::string, std::string> named_;  // by hash and guard
  int next_ = 0;
};

// The text of helper functions, with what they call.
std::string TritonHelperText(const std::set<std::string>& wanted);

}  // namespace kerf::synth

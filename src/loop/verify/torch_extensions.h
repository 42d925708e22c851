// Candidates that are torch extensions: C++ with PYBIND11_MODULE or TORCH_LIBRARY, with CUDA or HIP
// kernels or without. They are compiled against the interpreter's own torch, behind a precompiled
// header; kernels run on the CPU through simt/ (docs/simt.md). A warm interpreter imports the
// library in a child of its own, as for Python candidates.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "artifact/candidate.h"
#include "artifact/reference.h"
#include "artifact/verdict.h"
#include "base/result.h"
#include "loop/verify/pybind_symbols.h"
#include "loop/verify/runner.h"
#include "loop/verify/scratch.h"
#include "loop/verify/verifier.h"
#include "loop/verify/warm_interpreter.h"

namespace kerf::verify {

struct BuiltExtension {
  std::string library;  // path as the interpreter sees it
  std::string module;   // the name to import it under
  BoundSymbols bound;
};

// Which words of the GPU languages a source needs. Both false: plain C++.
struct ExtensionLanguage {
  bool gpu = false;
  bool hip = false;
};
ExtensionLanguage LanguageOf(std::string_view source);

class TorchExtensions {
 public:
  // Keeps the options by reference.
  explicit TorchExtensions(const VerifierOptions& options) : options_(options) {}

  // `module`: the name for a source that leaves it to the builder. nullopt, and the verdict says
  // why, when it cannot be had.
  Result<std::optional<BuiltExtension>> Build(const Candidate& candidate, const std::string& module,
                                              Verdict& verdict);
  // False, and the verdict says why, when no interpreter can serve.
  Result<bool> StartInterpreter(Verdict& verdict);
  // `about`: see python/kerf/candidate_server.py.
  Result<std::unique_ptr<Runner>> Fork(const std::string& about, const std::string& source);

 private:
  Status OpenFolder();
  // Puts the library where the interpreter can see it, and tells the path there.
  Result<std::string> Show(const std::string& library, const std::string& module);
  [[nodiscard]] bool namespaces() const;

  const VerifierOptions& options_;
  std::optional<Scratch> folder_;   // libraries, read-only inside; outlives the interpreter
  std::vector<std::string> shown_;  // in it
  std::unique_ptr<WarmInterpreter> interpreter_;
};

}  // namespace kerf::verify

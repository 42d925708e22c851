// The reference of a task: inputs, right answers and what is known about them. The layout on disk
// is docs/formats/reference.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "artifact/tensor.h"
#include "base/file_system.h"
#include "base/result.h"

namespace kerf {

// A tensor in a case's input or output file.
struct StoredTensor {
  std::string name;
  TensorSpec spec;
  uint64_t offset = 0;
};

// What a model or its constructor takes: a tensor, or a Python value.
struct Argument {
  enum class Kind { kTensor, kInt, kFloat, kBool, kString, kNone, kInts, kFloats, kOther };
  Kind kind = Kind::kNone;
  std::string name;
  StoredTensor tensor;         // kTensor
  std::vector<int64_t> ints;   // kInt, kBool: one; kInts
  std::vector<double> floats;  // kFloat: one; kFloats
  std::string text;            // kString; kOther: its repr
};

struct ReferenceCase {
  int64_t seed = 0;
  int64_t variant = 0;
  bool hidden = false;
  bool twin = false;       // differs from the first case in one element only
  std::string input_file;  // a path; from ParseManifest() the name alone
  std::string output_file;
  std::vector<Argument> inputs;
  std::vector<Argument> parameters;
  std::vector<StoredTensor> outputs;
  // One for each output.
  std::vector<std::optional<StoredTensor>> oracle;
  std::vector<std::optional<StoredTensor>> lower;
  std::vector<std::optional<StoredTensor>> condition;
  std::string oracle_note;  // why an oracle is missing
  std::string lower_precision;
  int64_t reference_ns = 0;  // one run of the reference
  double operations = 0;     // of its products; 0: none, or not known
};

struct Baseline {
  std::string name;  // "eager", "torch.compile"
  std::vector<int64_t> samples_ns;
  std::string error;  // why there are no samples
};

struct TaskChecks {
  struct Influence {
    std::string name;
    bool changes_output = false;
  };
  bool deterministic = false;
  std::string note;
  std::vector<Influence> influence;
};

struct Reference {
  std::string folder;
  std::string task_sha256;
  std::string framework;
  std::string framework_version;
  std::string python;
  bool dynamic = false;
  int64_t threads = 0;
  std::string hidden_note;
  std::vector<Argument> init;
  std::vector<ReferenceCase> cases;
  std::vector<Baseline> baselines;
  std::optional<TaskChecks> checks;
  // What a person should know about the task: inputs it changes in place, outputs left out.
  std::vector<std::string> notes;
};

// The dtype an output's oracle has: float64 or complex128; integers and bool keep their own.
DType OracleType(DType output);

// Reads the manifest and checks it against the files' sizes: every tensor lies inside its file.
// kNotFound without a manifest, kCorrupt when anything does not fit.
Result<Reference> ReadReference(FileSystem& fs, const std::string& folder);

// The manifest's text alone. Everything is checked but the files: kinds and values agree, shapes
// are sound, tensors lie in order at multiples of 64 and do not overlap, file names are plain
// names, every output has its oracle and lower-precision entry. kCorrupt with the member's name
// otherwise.
Result<Reference> ParseManifest(const std::string& text);

// Offsets of raw tensors are multiples of this: a cache line, and what vector loads want.
constexpr uint64_t kTensorAlignment = 64;

}  // namespace kerf

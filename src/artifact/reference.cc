// The manifest of docs/formats/reference.md. It was written in a process that ran somebody's code,
// so nothing in it is believed: a file name must not lead elsewhere, a tensor must lie inside its
// file, a product of sizes must not overflow.
#include "artifact/reference.h"

#include <cmath>
#include <limits>
#include <set>

#include "base/json_reader.h"

namespace kerf {
namespace {

constexpr uint64_t kMostManifestBytes = uint64_t{64} << 20;
constexpr size_t kMostReferenceDimensions = 64;  // torch's own limit

constexpr std::pair<const char*, Argument::Kind> kArgumentKinds[] = {
    {"tensor", Argument::Kind::kTensor}, {"int", Argument::Kind::kInt},
    {"float", Argument::Kind::kFloat},   {"bool", Argument::Kind::kBool},
    {"string", Argument::Kind::kString}, {"none", Argument::Kind::kNone},
    {"ints", Argument::Kind::kInts},     {"floats", Argument::Kind::kFloats},
    {"other", Argument::Kind::kOther}};

bool ParseKind(const std::string& name, Argument::Kind& kind) {
  for (const auto& [word, value] : kArgumentKinds) {
    if (name == word) {
      kind = value;
      return true;
    }
  }
  return false;
}

// A name in the reference's own folder.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name.front() != '.' &&
         name.find_first_of(std::string("/\0", 2)) == std::string::npos;
}

class ManifestReader {
 public:
  explicit ManifestReader(const std::string& text) : json_(text) {}

  Result<Reference> Read() {
    Reference reference;
    std::string format;
    int64_t version = 0;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "format") {
        json_.ReadString(format);
      } else if (key == "version") {
        json_.ReadInt(version);
      } else {
        ReadMember(key, reference);
      }
    }
    if (!problem_.empty()) return Broken(problem_);
    if (!json_.Finish()) return Broken(json_.error());
    if (format != "kerf-reference") return Broken("this is no manifest of a reference");
    if (version != 1) return Broken("version " + std::to_string(version) + " is not known");
    KERF_RETURN_IF_ERROR(Check(reference));
    return reference;
  }

 private:
  // Also ends the loop of a caller once something was found wrong.
  bool NextKey(std::string& key) { return problem_.empty() && json_.NextKey(key); }
  bool NextElement() { return problem_.empty() && json_.NextElement(); }
  void Problem(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }
  static Error Broken(const std::string& why) { return Corrupt("manifest of a reference: " + why); }

  void ReadMember(const std::string& key, Reference& reference) {
    if (key == "task_sha256") {
      json_.ReadString(reference.task_sha256);
    } else if (key == "framework") {
      json_.ReadString(reference.framework);
    } else if (key == "framework_version") {
      json_.ReadString(reference.framework_version);
    } else if (key == "python") {
      json_.ReadString(reference.python);
    } else if (key == "dynamic") {
      json_.ReadBool(reference.dynamic);
    } else if (key == "threads") {
      json_.ReadInt(reference.threads);
    } else if (key == "hidden_note") {
      json_.ReadString(reference.hidden_note);
    } else if (key == "init") {
      reference.init = ReadArguments();
    } else if (key == "cases") {
      for (json_.BeginArray(); NextElement();) reference.cases.push_back(ReadCase());
    } else if (key == "baselines") {
      for (json_.BeginArray(); NextElement();) reference.baselines.push_back(ReadBaseline());
    } else if (key == "checks") {
      reference.checks = ReadChecks();
    } else if (key == "notes") {
      for (json_.BeginArray(); NextElement();) json_.ReadString(reference.notes.emplace_back());
    } else {
      json_.Skip();  // of a later version
    }
  }

  std::vector<Argument> ReadArguments() {
    std::vector<Argument> arguments;
    for (json_.BeginArray(); NextElement();) arguments.push_back(ReadArgument());
    return arguments;
  }

  // `value` may come before `kind`, so it is kept as text until both are known.
  Argument ReadArgument() {
    Argument argument;
    has_dtype_ = false;
    std::string kind;
    std::string_view value;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "kind") {
        json_.ReadString(kind);
      } else if (key == "name") {
        json_.ReadString(argument.name);
      } else if (key == "value") {
        json_.ReadRaw(value);
      } else {
        ReadTensorMember(key, argument.tensor);
      }
    }
    if (!json_.ok()) return argument;
    argument.tensor.name = argument.name;
    if (!ParseKind(kind, argument.kind)) {
      Problem("argument '" + argument.name + "' has the unknown kind '" + kind + "'");
    } else if (argument.kind == Argument::Kind::kTensor && !has_dtype_) {
      Problem("tensor '" + argument.name + "' has no dtype");
    } else if (argument.kind != Argument::Kind::kTensor && !ReadValue(value, argument)) {
      Problem("the value of argument '" + argument.name + "' is no " + kind);
    }
    return argument;
  }

  static bool ReadNumber(JsonReader& json, double& number) {
    if (json.Peek() != JsonType::kString) return json.ReadDouble(number);
    std::string word;
    if (!json.ReadString(word)) return false;
    if (word == "nan") {
      number = std::numeric_limits<double>::quiet_NaN();
    } else if (word == "inf") {
      number = std::numeric_limits<double>::infinity();
    } else if (word == "-inf") {
      number = -std::numeric_limits<double>::infinity();
    } else {
      return false;
    }
    return true;
  }

  static bool ReadValue(std::string_view text, Argument& argument) {
    if (argument.kind == Argument::Kind::kNone) return true;
    JsonReader json(text);
    bool flag = false;
    bool good = true;
    switch (argument.kind) {
      case Argument::Kind::kInt:
        good = json.ReadInt(argument.ints.emplace_back());
        break;
      case Argument::Kind::kBool:
        good = json.ReadBool(flag);
        argument.ints = {flag ? 1 : 0};
        break;
      case Argument::Kind::kFloat:
        good = ReadNumber(json, argument.floats.emplace_back());
        break;
      case Argument::Kind::kInts:
        for (good = json.BeginArray(); good && json.NextElement();) {
          good = json.ReadInt(argument.ints.emplace_back());
        }
        break;
      case Argument::Kind::kFloats:
        for (good = json.BeginArray(); good && json.NextElement();) {
          good = ReadNumber(json, argument.floats.emplace_back());
        }
        break;
      default:
        good = json.ReadString(argument.text);
    }
    return good && json.Finish();
  }

  bool ReadTensorMember(const std::string& key, StoredTensor& tensor) {
    if (key == "name") return json_.ReadString(tensor.name);
    if (key == "dtype") {
      std::string word;
      if (!json_.ReadString(word)) return false;
      const std::optional<DType> dtype = ParseDType(word);
      if (!dtype.has_value()) Problem("'" + word + "' is no element type");
      tensor.spec.dtype = dtype.value_or(DType::kFloat32);
      has_dtype_ = true;
      return true;
    }
    if (key == "shape") {
      tensor.spec.shape.clear();
      for (json_.BeginArray(); NextElement();) json_.ReadInt(tensor.spec.shape.emplace_back());
      if (tensor.spec.shape.size() > kMostReferenceDimensions || !IsSound(tensor.spec)) {
        Problem("the shape of tensor '" + tensor.name + "' cannot be");
      }
      return json_.ok();
    }
    if (key == "offset") {
      int64_t offset = -1;
      if (!json_.ReadInt(offset)) return false;
      if (offset < 0) Problem("an offset is negative");
      tensor.offset = static_cast<uint64_t>(offset);
      return true;
    }
    return json_.Skip();
  }

  StoredTensor ReadTensor() {
    StoredTensor tensor;
    has_dtype_ = false;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) ReadTensorMember(key, tensor);
    if (!has_dtype_) Problem("tensor '" + tensor.name + "' has no dtype");
    return tensor;
  }

  std::vector<std::optional<StoredTensor>> ReadOptionalTensors() {
    std::vector<std::optional<StoredTensor>> tensors;
    for (json_.BeginArray(); NextElement();) {
      if (json_.Peek() == JsonType::kNull) {
        json_.ReadNull();
        tensors.emplace_back();
      } else {
        tensors.emplace_back(ReadTensor());
      }
    }
    return tensors;
  }

  ReferenceCase ReadCase() {
    ReferenceCase one;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "seed") {
        json_.ReadInt(one.seed);
      } else if (key == "variant") {
        json_.ReadInt(one.variant);
      } else if (key == "twin_of") {
        one.twin = true;
        json_.Skip();
      } else if (key == "hidden") {
        json_.ReadBool(one.hidden);
      } else if (key == "input_file") {
        json_.ReadString(one.input_file);
      } else if (key == "output_file") {
        json_.ReadString(one.output_file);
      } else if (key == "inputs") {
        one.inputs = ReadArguments();
      } else if (key == "parameters") {
        one.parameters = ReadArguments();
      } else if (key == "outputs") {
        for (json_.BeginArray(); NextElement();) one.outputs.push_back(ReadTensor());
      } else if (key == "oracle") {
        one.oracle = ReadOptionalTensors();
      } else if (key == "lower") {
        one.lower = ReadOptionalTensors();
      } else if (key == "condition") {
        one.condition = ReadOptionalTensors();
      } else if (key == "oracle_note") {
        json_.ReadString(one.oracle_note);
      } else if (key == "lower_precision") {
        json_.ReadString(one.lower_precision);
      } else if (key == "reference_ns") {
        json_.ReadInt(one.reference_ns);
      } else if (key == "operations") {
        json_.ReadDouble(one.operations);
      } else {
        json_.Skip();
      }
    }
    if (one.condition.empty()) one.condition.resize(one.outputs.size());
    return one;
  }

  Baseline ReadBaseline() {
    Baseline baseline;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "name") {
        json_.ReadString(baseline.name);
      } else if (key == "error") {
        json_.ReadString(baseline.error);
      } else if (key == "samples_ns") {
        for (json_.BeginArray(); NextElement();) {
          int64_t& sample = baseline.samples_ns.emplace_back();
          json_.ReadInt(sample);
          if (sample < 0) Problem("a baseline took less than no time");
        }
      } else {
        json_.Skip();
      }
    }
    return baseline;
  }

  TaskChecks ReadChecks() {
    TaskChecks checks;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "deterministic") {
        json_.ReadBool(checks.deterministic);
      } else if (key == "note") {
        json_.ReadString(checks.note);
      } else if (key == "influence") {
        for (json_.BeginArray(); NextElement();) checks.influence.push_back(ReadInfluence());
      } else {
        json_.Skip();
      }
    }
    return checks;
  }

  TaskChecks::Influence ReadInfluence() {
    TaskChecks::Influence influence;
    std::string key;
    for (json_.BeginObject(); NextKey(key);) {
      if (key == "name") {
        json_.ReadString(influence.name);
      } else if (key == "changes_output") {
        json_.ReadBool(influence.changes_output);
      } else {
        json_.Skip();
      }
    }
    return influence;
  }

  static Status Check(const Reference& reference) {
    if (reference.cases.empty()) return Broken("it has no case");
    for (const Argument& argument : reference.init) {
      if (argument.kind == Argument::Kind::kTensor) {
        return Broken("'" + argument.name + "' of init is a tensor, and there is no file for it");
      }
    }
    std::set<std::string> files;
    for (const ReferenceCase& one : reference.cases) {
      for (const std::string* file : {&one.input_file, &one.output_file}) {
        if (!IsPlainName(*file)) return Broken("'" + *file + "' is no file name");
        if (!files.insert(*file).second) return Broken(*file + " belongs to two cases");
      }
      KERF_RETURN_IF_ERROR(CheckCase(one));
    }
    return {};
  }

  static Status CheckCase(const ReferenceCase& one) {
    if (one.outputs.empty()) return Broken("a case has no output");
    if (one.reference_ns < 0) return Broken("a reference took less than no time");
    if (one.operations < 0) return Broken("a reference has less than no operations");
    if (one.oracle.size() != one.outputs.size() || one.lower.size() != one.outputs.size()) {
      return Broken("a case has " + std::to_string(one.outputs.size()) + " outputs, " +
                    std::to_string(one.oracle.size()) + " oracles and " +
                    std::to_string(one.lower.size()) + " lower-precision outputs");
    }
    if (one.condition.size() != one.outputs.size()) {
      return Broken("a case has " + std::to_string(one.outputs.size()) + " outputs and " +
                    std::to_string(one.condition.size()) + " conditions");
    }
    for (size_t i = 0; i < one.outputs.size(); ++i) {
      const TensorSpec& output = one.outputs[i].spec;
      if (one.oracle[i].has_value()) {
        const TensorSpec exact{OracleType(output.dtype), output.shape};
        if (one.oracle[i]->spec != exact) {
          return Broken("the oracle of " + output.ToString() + " is " +
                        one.oracle[i]->spec.ToString());
        }
      }
      if (one.lower[i].has_value() && one.lower[i]->spec != output) {
        return Broken("the lower-precision run of " + output.ToString() + " gave " +
                      one.lower[i]->spec.ToString());
      }
      const TensorSpec moved{DType::kFloat32, output.shape};
      if (one.condition[i].has_value() && one.condition[i]->spec != moved) {
        return Broken("the condition of " + output.ToString() + " is " +
                      one.condition[i]->spec.ToString());
      }
    }
    KERF_RETURN_IF_ERROR(CheckOrder(InputTensors(one)));
    return CheckOrder(OutputTensors(one));
  }

  // In order and apart, so that no tensor's bytes are another's.
  static Status CheckOrder(const std::vector<const StoredTensor*>& tensors) {
    uint64_t end = 0;
    for (const StoredTensor* tensor : tensors) {
      if (tensor->offset % kTensorAlignment != 0 || tensor->offset < end) {
        return Broken("the offset " + std::to_string(tensor->offset) + " of tensor '" +
                      tensor->name + "' is not aligned or lies in the tensor before it");
      }
      end = tensor->offset + tensor->spec.bytes();
    }
    return {};
  }

 public:
  static std::vector<const StoredTensor*> InputTensors(const ReferenceCase& one) {
    std::vector<const StoredTensor*> tensors;
    for (const auto* arguments : {&one.inputs, &one.parameters}) {
      for (const Argument& argument : *arguments) {
        if (argument.kind == Argument::Kind::kTensor) tensors.push_back(&argument.tensor);
      }
    }
    return tensors;
  }

  static std::vector<const StoredTensor*> OutputTensors(const ReferenceCase& one) {
    std::vector<const StoredTensor*> tensors;
    for (const StoredTensor& output : one.outputs) tensors.push_back(&output);
    for (const auto* optional : {&one.oracle, &one.lower, &one.condition}) {
      for (const auto& tensor : *optional) {
        if (tensor.has_value()) tensors.push_back(&*tensor);
      }
    }
    return tensors;
  }

 private:
  JsonReader json_;
  std::string problem_;
  bool has_dtype_ = false;
};

Status CheckFile(FileSystem& fs, const std::string& path,
                 const std::vector<const StoredTensor*>& tensors) {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
  if (!info.has_value() || info->kind != FileKind::kFile) {
    return Corrupt(path + " is missing or no regular file");
  }
  for (const StoredTensor* tensor : tensors) {
    const uint64_t end = tensor->offset + tensor->spec.bytes();
    if (end > info->size) {
      return Corrupt(path + ": tensor '" + tensor->name + "' ends at " + std::to_string(end) +
                     ", the file at " + std::to_string(info->size) + " (truncated?)");
    }
  }
  return {};
}

}  // namespace

DType OracleType(DType output) {
  if (IsFloat(output)) return DType::kFloat64;
  if (IsComplex(output)) return DType::kComplex128;
  return output;
}

Result<Reference> ParseManifest(const std::string& text) { return ManifestReader(text).Read(); }

Result<Reference> ReadReference(FileSystem& fs, const std::string& folder) {
  const std::string path = JoinPath(folder, "manifest.json");
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
  if (!info.has_value()) return NotFound(path + " does not exist");
  if (info->kind != FileKind::kFile || info->size > kMostManifestBytes) {
    return Corrupt(path + " is no regular file of a sensible size");
  }
  KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(path));
  Result<Reference> reference = ParseManifest(text);
  if (!reference.ok()) return std::move(reference).error().Within(folder);
  reference->folder = folder;
  for (ReferenceCase& one : reference->cases) {
    one.input_file = JoinPath(folder, one.input_file);
    one.output_file = JoinPath(folder, one.output_file);
    KERF_RETURN_IF_ERROR(CheckFile(fs, one.input_file, ManifestReader::InputTensors(one)));
    KERF_RETURN_IF_ERROR(CheckFile(fs, one.output_file, ManifestReader::OutputTensors(one)));
  }
  return reference;
}

}  // namespace kerf

#include "loop/task/task_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/hash.h"

namespace kerf::task {
namespace {

constexpr uint64_t kPiece = uint64_t{4} << 20;
constexpr double kSmall = 0.01;  // as in robust-kbench's task filter

template <typename T>
T Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// A float of 1 sign bit, `exponent` and `mantissa` bits.
double Decode(uint32_t bits, int exponent, int mantissa, bool has_infinity) {
  const uint32_t most = (1U << exponent) - 1;
  const uint32_t fraction = bits & ((1U << mantissa) - 1);
  const uint32_t power = (bits >> mantissa) & most;
  const double sign = ((bits >> (exponent + mantissa)) & 1) != 0 ? -1 : 1;
  const int bias = static_cast<int>(most >> 1);
  if (power == most && has_infinity) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (power == most && fraction == (1U << mantissa) - 1) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (power == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
  return sign * std::ldexp((1U << mantissa) + fraction, static_cast<int>(power) - bias - mantissa);
}

double Number(DType dtype, const char* at) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return Load<uint8_t>(at);
    case DType::kInt8:
      return Load<int8_t>(at);
    case DType::kInt16:
      return Load<int16_t>(at);
    case DType::kInt32:
      return Load<int32_t>(at);
    case DType::kInt64:
      return static_cast<double>(Load<int64_t>(at));
    case DType::kUInt16:
      return Load<uint16_t>(at);
    case DType::kUInt32:
      return Load<uint32_t>(at);
    case DType::kUInt64:
      return static_cast<double>(Load<uint64_t>(at));
    case DType::kFloat8E4M3:
      return Decode(Load<uint8_t>(at), 4, 3, /*has_infinity=*/false);
    case DType::kFloat8E5M2:
      return Decode(Load<uint8_t>(at), 5, 2, /*has_infinity=*/true);
    case DType::kFloat16:
      return Decode(Load<uint16_t>(at), 5, 10, /*has_infinity=*/true);
    case DType::kBFloat16:
      return std::bit_cast<float>(uint32_t{Load<uint16_t>(at)} << 16);
    case DType::kFloat32:
    case DType::kComplex64:
      return Load<float>(at);
    case DType::kFloat64:
    case DType::kComplex128:
      return Load<double>(at);
  }
  return 0;
}

struct OutputScan {
  OutputSummary summary;
  uint64_t hash = 0;  // of all bytes: equal outputs have equal ones
};

Result<OutputScan> ScanOutput(FileSystem& fs, const ReferenceCase& one,
                              const StoredTensor& output) {
  const TensorSpec& spec = output.spec;
  OutputScan scan;
  scan.summary = {output.name, spec.ToString(), one.seed, one.variant, one.hidden};
  double least = std::numeric_limits<double>::infinity();
  double greatest = -least;
  // Both parts of a complex number count.
  const uint64_t width = DTypeBytes(spec.dtype) / (IsComplex(spec.dtype) ? 2 : 1);
  for (uint64_t done = 0; done < spec.bytes();) {
    const uint64_t length = std::min(kPiece, spec.bytes() - done);
    KERF_ASSIGN_OR_RETURN(const std::string bytes,
                          fs.ReadRange(one.output_file, output.offset + done, length));
    if (bytes.size() != length)
      return Corrupt(one.output_file + " became shorter while it was read");
    scan.hash = scan.hash * 1099511628211ULL ^ Xxh3(bytes);
    for (uint64_t at = 0; at < length; at += width) {
      const double value = Number(spec.dtype, bytes.data() + at);
      if (!std::isfinite(value)) {
        ++scan.summary.non_finite;
        continue;
      }
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
    done += length;
  }
  scan.summary.elements = spec.bytes() / width;
  if (least <= greatest) {
    scan.summary.least = least;
    scan.summary.greatest = greatest;
  }
  return scan;
}

class Checker {
 public:
  Checker(FileSystem& fs, const Reference& reference) : fs_(fs), reference_(reference) {}

  Result<TaskReport> Run() {
    for (const ReferenceCase& one : reference_.cases) {
      for (const StoredTensor& output : one.outputs) {
        KERF_ASSIGN_OR_RETURN(const OutputScan scan, ScanOutput(fs_, one, output));
        Judge(scan.summary);
        if (!one.hidden) hashes_[{output.name, one.variant}].push_back(scan.hash);
        report_.outputs.push_back(scan.summary);
      }
      if (!one.oracle_note.empty()) {
        Add(Finding::kNoOracle, false, "no answers in float64: " + one.oracle_note);
      }
    }
    JudgeSeeds();
    JudgeSizes();
    JudgeChecks();
    for (const std::string& note : reference_.notes) Add(Finding::kNote, false, note);
    return std::move(report_);
  }

 private:
  // Each thing once, however many cases show it.
  void Add(Finding finding, bool unfit, const std::string& message) {
    if (said_.emplace(finding, message).second)
      report_.findings.push_back({finding, unfit, message});
  }

  void Judge(const OutputSummary& output) {
    if (output.elements == 0) return;
    if (output.non_finite == output.elements) {
      Add(Finding::kNonFinite, true, output.name + " is not finite anywhere");
    } else if (output.non_finite > 0) {
      Add(Finding::kNonFinite, false,
          output.name + " holds NaN or infinity; a candidate must have them in the same places");
    } else if (output.elements > 1 && output.least == output.greatest) {
      Add(Finding::kConstant, true, output.name + " has the same value everywhere");
    }
  }

  void JudgeSeeds() {
    for (const auto& [output, hashes] : hashes_) {
      if (hashes.size() > 1 && std::set<uint64_t>(hashes.begin(), hashes.end()).size() == 1) {
        Add(Finding::kSameForAllSeeds, true,
            std::get<0>(output) + " is the same for all seeds: it does not depend on the inputs");
      }
    }
  }

  void JudgeSizes() {
    double largest = 0;
    for (const OutputSummary& output : report_.outputs) {
      largest = std::max({largest, std::abs(output.least), std::abs(output.greatest)});
    }
    if (largest > 0 && largest <= kSmall) {
      Add(Finding::kSmallOutputs, false,
          "all outputs lie within 0.01: judges with a fixed tolerance of 1e-2 accept zeros");
    }
  }

  void JudgeChecks() {
    if (!reference_.checks.has_value()) return;
    const TaskChecks& checks = *reference_.checks;
    if (!checks.deterministic) {
      Add(Finding::kNotDeterministic, true, "the reference is not deterministic: " + checks.note);
    } else if (!checks.note.empty()) {
      Add(Finding::kNote, false, checks.note);
    }
    std::set<std::string> inputs;
    for (const Argument& input : reference_.cases.at(0).inputs) inputs.insert(input.name);
    for (const TaskChecks::Influence& influence : checks.influence) {
      if (influence.changes_output) continue;
      const bool input = inputs.contains(influence.name);
      Add(input ? Finding::kInputIgnored : Finding::kParameterIgnored, input,
          (input ? "another " : "another value of parameter ") + influence.name +
              " does not change the output");
    }
  }

  FileSystem& fs_;
  const Reference& reference_;
  TaskReport report_;
  std::set<std::pair<Finding, std::string>> said_;
  std::map<std::pair<std::string, int64_t>, std::vector<uint64_t>> hashes_;  // by name and variant
};

}  // namespace

const char* FindingName(Finding finding) {
  switch (finding) {
    case Finding::kNonFinite:
      return "non_finite";
    case Finding::kConstant:
      return "constant";
    case Finding::kSameForAllSeeds:
      return "same_for_all_seeds";
    case Finding::kNotDeterministic:
      return "not_deterministic";
    case Finding::kInputIgnored:
      return "input_ignored";
    case Finding::kParameterIgnored:
      return "parameter_ignored";
    case Finding::kSmallOutputs:
      return "small_outputs";
    case Finding::kNoOracle:
      return "no_oracle";
    case Finding::kNullBaseline:
      return "null_baseline";
    case Finding::kNote:
      return "note";
  }
  return "unknown";
}

Result<TaskReport> CheckTask(FileSystem& fs, const Reference& reference) {
  return Checker(fs, reference).Run();
}

}  // namespace kerf::task

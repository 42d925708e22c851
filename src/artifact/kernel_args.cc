#include "artifact/kernel_args.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kerf {
namespace {

struct TypeRow {
  const char* name;
  size_t bytes;
  ArgFamily family;
};

// Indexed by ArgType.
constexpr std::array<TypeRow, kArgTypeCount> kTypes = {{
    {"FLOAT32", 4, ArgFamily::kFloat},
    {"FLOAT16", 2, ArgFamily::kFloat},
    {"INT32", 4, ArgFamily::kSigned},
    {"INT16", 2, ArgFamily::kSigned},
    {"INT8", 1, ArgFamily::kSigned},
    {"UINT8", 1, ArgFamily::kUnsigned},
    {"BFLOAT16", 2, ArgFamily::kFloat},
    {"INT64", 8, ArgFamily::kSigned},
    {"UINT64", 8, ArgFamily::kUnsigned},
    {"UINT16", 2, ArgFamily::kUnsigned},
    {"UINT32", 4, ArgFamily::kUnsigned},
    {"BOOL", 1, ArgFamily::kBool},
    {"FP8E4M3FN", 1, ArgFamily::kRaw},
    {"FP8E8M0", 1, ArgFamily::kRaw},
    {"FP4E2M1", 1, ArgFamily::kRaw},
    {"FLOAT64", 8, ArgFamily::kFloat},
}};

const TypeRow& Row(ArgType type) { return kTypes[static_cast<size_t>(type)]; }

uint64_t ElementsToBytes(ArgType type, int64_t elements) {
  const auto count = static_cast<uint64_t>(elements);
  if (type == ArgType::kFp4E2M1) return (count + 1) / 2;
  return count * ArgTypeBytes(type);
}

std::string List(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (const int64_t value : values) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  }
  return text + "]";
}

// An extent or a stride must fit the descriptor's u32; more than a terabyte is nobody's kernel and
// would only overflow further down.
constexpr int64_t kMostExtent = UINT32_MAX;
constexpr int64_t kMostElements = int64_t{1} << 40;

}  // namespace

const char* ArgTypeName(ArgType type) { return Row(type).name; }

std::optional<ArgType> ParseArgType(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (upper == kTypes[i].name) return static_cast<ArgType>(i);
  }
  return std::nullopt;
}

std::string ArgTypeNames() {
  std::string names;
  for (const TypeRow& row : kTypes) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

size_t ArgTypeBytes(ArgType type) { return Row(type).bytes; }
ArgFamily ArgTypeFamily(ArgType type) { return Row(type).family; }
bool IsTensorType(ArgType type) { return type != ArgType::kFloat64; }
bool IsA5Only(ArgType type) { return ArgTypeFamily(type) == ArgFamily::kRaw; }

const char* ArgRoleName(ArgRole role) {
  switch (role) {
    case ArgRole::kInput:
      return "input";
    case ArgRole::kOutput:
      return "output";
    case ArgRole::kInOut:
      break;
  }
  return "inout";
}

std::optional<ArgRole> ParseArgRole(std::string_view name) {
  for (const ArgRole role : {ArgRole::kInput, ArgRole::kOutput, ArgRole::kInOut}) {
    if (name == ArgRoleName(role)) return role;
  }
  return std::nullopt;
}

int64_t TensorArg::numel() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

int64_t TensorArg::buffer_elements() const {
  int64_t last = start_offset;
  for (size_t i = 0; i < shape.size(); ++i) last += (shape[i] - 1) * strides[i];
  return last + 1;
}

uint64_t TensorArg::buffer_bytes() const { return ElementsToBytes(type, buffer_elements()); }
uint64_t TensorArg::view_bytes() const { return ElementsToBytes(type, numel()); }
bool TensorArg::contiguous() const { return strides == ContiguousStrides(shape); }

const KernelArg* KernelArgs::Find(int slot) const {
  const auto found = std::find_if(args.begin(), args.end(),
                                  [&](const KernelArg& arg) { return arg.slot == slot; });
  return found == args.end() ? nullptr : &*found;
}

std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    // Saturates: WrongTensor() refuses such shapes, but is asked afterwards.
    if (__builtin_mul_overflow(strides[i], shape[i], &strides[i - 1])) strides[i - 1] = INT64_MAX;
  }
  return strides;
}

std::optional<std::string> WrongTensor(const TensorArg& tensor) {
  if (!IsTensorType(tensor.type)) {
    return std::string(ArgTypeName(tensor.type)) + " is no type of tensors";
  }
  if (tensor.shape.empty() || tensor.shape.size() > kArgRank) {
    return "has " + std::to_string(tensor.shape.size()) + " dimensions; 1 to 5 are possible";
  }
  int64_t count = 1;
  for (const int64_t extent : tensor.shape) {
    if (extent <= 0) return "shape " + List(tensor.shape) + " has an extent that is not positive";
    if (extent > kMostExtent || count > kMostElements / extent) {
      return "shape " + List(tensor.shape) + " has more elements than fit";
    }
    count *= extent;
  }
  if (tensor.strides.size() != tensor.shape.size()) {
    return "has " + std::to_string(tensor.shape.size()) + " extents and " +
           std::to_string(tensor.strides.size()) + " strides";
  }
  int64_t last = tensor.start_offset;
  if (last < 0 || last > kMostElements) {
    return "start_offset " + std::to_string(last) + " is negative or too large";
  }
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const int64_t stride = tensor.strides[i];
    if (stride <= 0) return "strides " + List(tensor.strides) + " must all be positive";
    if (stride > kMostExtent || (tensor.shape[i] - 1) > (kMostElements - last) / stride) {
      return "strides " + List(tensor.strides) + " reach farther than fits";
    }
    last += (tensor.shape[i] - 1) * stride;
  }
  if (tensor.type == ArgType::kFp4E2M1 && (!tensor.contiguous() || tensor.start_offset != 0)) {
    return "FP4E2M1 holds two values in a byte: only contiguous views from element 0 are possible";
  }
  return std::nullopt;
}

std::string DescribeTensor(const TensorArg& tensor) {
  std::string text = ArgTypeName(tensor.type) + List(tensor.shape);
  if (!tensor.contiguous()) text += " strides " + List(tensor.strides);
  if (tensor.start_offset != 0) text += " from element " + std::to_string(tensor.start_offset);
  return text;
}

}  // namespace kerf

// The arguments of one in-core kernel launch: what stands in its 50 slots.
//
// A kernel gets one pointer to 50 64-bit words. A tensor's word is the address of its 128-byte
// descriptor, a scalar's the value itself, zero-extended. Words 48 and 49 belong to the runtime.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace kerf {

constexpr int kArgSlots = 50;
constexpr int kLocalContextSlot = 48;
constexpr int kGlobalContextSlot = 49;
constexpr size_t kArgRank = 5;

// Values are the runtime's own codes, which stand in descriptors.
enum class ArgType : uint8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kInt32 = 2,
  kInt16 = 3,
  kInt8 = 4,
  kUInt8 = 5,
  kBFloat16 = 6,
  kInt64 = 7,
  kUInt64 = 8,
  kUInt16 = 9,
  kUInt32 = 10,
  kBool = 11,
  kFp8E4M3 = 12,
  kFp8E8M0 = 13,
  kFp4E2M1 = 14,
  kFloat64 = 15,  // scalars only: the runtime has no such tensor
};
constexpr size_t kArgTypeCount = 16;

enum class ArgFamily { kFloat, kSigned, kUnsigned, kBool, kRaw };

const char* ArgTypeName(ArgType type);  // "FLOAT32"
// In any case; nullopt when unknown.
std::optional<ArgType> ParseArgType(std::string_view name);
// "FLOAT32, FLOAT16, …" for messages.
std::string ArgTypeNames();
size_t ArgTypeBytes(ArgType type);  // of one element; kFp4E2M1: of two
ArgFamily ArgTypeFamily(ArgType type);
bool IsTensorType(ArgType type);
bool IsA5Only(ArgType type);

enum class ArgRole { kInput, kOutput, kInOut };
const char* ArgRoleName(ArgRole role);  // "input", "output", "inout"
std::optional<ArgRole> ParseArgRole(std::string_view name);

// Raw little-endian bytes of the view, row by row, as a dump or a person stored them.
struct ArgData {
  std::string file;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool operator==(const ArgData&) const = default;
};

struct TensorArg {
  ArgType type = ArgType::kFloat32;
  ArgRole role = ArgRole::kInput;
  std::vector<int64_t> shape;    // 1 to 5, each > 0
  std::vector<int64_t> strides;  // in elements, each > 0, as long as shape
  int64_t start_offset = 0;      // in elements
  uint64_t fill_bits = 0;        // what each element holds at first, unless there is data
  std::optional<ArgData> data;

  [[nodiscard]] int64_t numel() const;
  // From the start of the buffer to behind the last element of the view.
  [[nodiscard]] int64_t buffer_elements() const;
  [[nodiscard]] uint64_t buffer_bytes() const;
  [[nodiscard]] uint64_t view_bytes() const;
  [[nodiscard]] bool contiguous() const;
  bool operator==(const TensorArg&) const = default;
};

struct ScalarArg {
  ArgType type = ArgType::kUInt64;
  uint64_t bits = 0;  // the slot
  bool operator==(const ScalarArg&) const = default;
};

struct KernelArg {
  int slot = 0;
  std::string name;    // for people; never an identifier in generated code
  std::string origin;  // "spec.json: args[2]", "dump: args[7]", "recipe sf: slots[4]"
  std::variant<TensorArg, ScalarArg> value;

  [[nodiscard]] const TensorArg* tensor() const { return std::get_if<TensorArg>(&value); }
  [[nodiscard]] const ScalarArg* scalar() const { return std::get_if<ScalarArg>(&value); }
};

// Sorted by slot, no slot twice.
struct KernelArgs {
  std::vector<KernelArg> args;
  std::vector<std::string> notes;  // what the user should know: lost digits, tables left at zero

  [[nodiscard]] const KernelArg* Find(int slot) const;
};

// Row-major strides.
std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& shape);

// Why this tensor cannot be replayed, or nullopt: rank, extents, strides, sizes that do not fit.
std::optional<std::string> WrongTensor(const TensorArg& tensor);

// "FLOAT32[16, 16]"; strides and offset only when they say something.
std::string DescribeTensor(const TensorArg& tensor);

}  // namespace kerf

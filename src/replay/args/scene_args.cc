#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "artifact/scalar_bits.h"
#include "replay/args/recipe.h"

namespace kerf::args {
namespace {

// SCALAR entries take no tensor slot.
std::vector<std::string> TensorRoles(const std::vector<std::string>& signature) {
  std::vector<std::string> roles;
  std::copy_if(signature.begin(), signature.end(), std::back_inserter(roles),
               [](const std::string& role) { return role != "SCALAR"; });
  return roles;
}

ArgRole RoleOf(const std::string& word) {
  return word == "OUT" ? ArgRole::kOutput : word == "INOUT" ? ArgRole::kInOut : ArgRole::kInput;
}

Result<TensorArg> TensorOf(const SceneArg& arg, const std::string& role,
                           std::vector<std::string>& notes, size_t slot) {
  TensorArg tensor{
      .role = RoleOf(role), .shape = arg.shape, .strides = ContiguousStrides(arg.shape)};
  const auto type = ParseArgType(arg.dtype);
  if (!type) return InvalidInput("argument '" + arg.name + "': unknown dtype " + arg.dtype);
  tensor.type = *type;
  if (const auto why = WrongTensor(tensor))
    return InvalidInput("argument '" + arg.name + "' " + *why);
  const std::string where = "argument '" + arg.name + "'";
  if (arg.fill.type == JsonType::kNumber) {
    KERF_ASSIGN_OR_RETURN(tensor.fill_bits,
                          EncodeScalar(*type, JsonPlace(where, "fill", arg.fill)));
  } else if (tensor.role != ArgRole::kOutput) {
    notes.push_back(
        fmt::format("slot {}: the values of '{}' are known only when the test runs; it "
                    "starts as zeros",
                    slot, arg.name));
  }
  return tensor;
}

Result<ScalarArg> ScalarOf(const SceneArg& arg) {
  static const std::map<std::string, ArgType> kTypes = {
      {"c_float", ArgType::kFloat32},  {"c_double", ArgType::kFloat64},
      {"c_int", ArgType::kInt32},      {"c_int8", ArgType::kInt8},
      {"c_int16", ArgType::kInt16},    {"c_int32", ArgType::kInt32},
      {"c_int64", ArgType::kInt64},    {"c_long", ArgType::kInt64},
      {"c_longlong", ArgType::kInt64}, {"c_uint", ArgType::kUInt32},
      {"c_uint8", ArgType::kUInt8},    {"c_uint16", ArgType::kUInt16},
      {"c_uint32", ArgType::kUInt32},  {"c_uint64", ArgType::kUInt64},
      {"c_size_t", ArgType::kUInt64},  {"c_bool", ArgType::kBool}};
  const std::string where = "argument '" + arg.name + "'";
  const JsonPlace value(where, "value", arg.value);
  ArgType type = value.IsWhole() ? ArgType::kInt64 : ArgType::kFloat32;
  if (arg.value.type == JsonType::kBool) type = ArgType::kBool;
  if (!arg.ctype.empty()) {
    const auto known = kTypes.find(arg.ctype);
    if (known == kTypes.end()) return InvalidInput(where + ": unknown scalar type " + arg.ctype);
    type = known->second;
  }
  KERF_ASSIGN_OR_RETURN(const uint64_t bits, EncodeScalar(type, value));
  return ScalarArg{type, bits};
}

}  // namespace

Result<KernelArgs> ArgsFromScene(const SceneClass& scene_class, const SceneIncore& incore) {
  const std::string kernel = "kernel " + incore.name;
  if (incore.signature.empty() || incore.signature != scene_class.orchestration_signature) {
    return InvalidInput(kernel + " does not take the orchestration's arguments");
  }
  if (!scene_class.args) {
    const std::string why =
        scene_class.args_problem ? ": " + scene_class.args_problem->ToString() : "";
    return InvalidInput(kernel + ": generate_args could not be evaluated" + why);
  }
  const std::vector<std::string> roles = TensorRoles(incore.signature);
  KernelArgs args;
  size_t tensors = 0;
  for (const SceneArg& arg : *scene_class.args) tensors += arg.is_tensor ? 1 : 0;
  if (tensors != roles.size()) {
    return InvalidInput(kernel + " has " + std::to_string(roles.size()) +
                        " tensors, generate_args makes " + std::to_string(tensors));
  }
  for (const SceneArg& arg : *scene_class.args) {
    const size_t slot = args.args.size();
    KernelArg one{.slot = static_cast<int>(slot), .name = arg.name, .origin = "generate_args"};
    if (arg.is_tensor) {
      if (slot >= roles.size()) return InvalidInput(kernel + ": a tensor follows a scalar");
      KERF_ASSIGN_OR_RETURN(one.value, TensorOf(arg, roles[slot], args.notes, slot));
    } else {
      KERF_ASSIGN_OR_RETURN(one.value, ScalarOf(arg));
    }
    args.args.push_back(std::move(one));
  }
  return args;
}

}  // namespace kerf::args

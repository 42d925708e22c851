#include "replay/args/arg_rules.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "artifact/scalar_bits.h"

namespace kerf::args {
namespace {

std::string At(const KernelArg& arg) {
  return (arg.origin.empty() ? "" : arg.origin + ": ") + "slot " + std::to_string(arg.slot) + ": ";
}

Status CheckData(FileSystem& fs, const KernelArg& arg, const TensorArg& tensor) {
  const ArgData& data = *tensor.data;
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(data.file));
  if (!info || info->kind != FileKind::kFile) {
    return NotFound(At(arg) + "data file " + data.file + " is not there or no plain file");
  }
  if (data.size != tensor.view_bytes()) {
    return InvalidInput(At(arg) + DescribeTensor(tensor) + " needs " +
                        std::to_string(tensor.view_bytes()) + " bytes of data, not " +
                        std::to_string(data.size));
  }
  if (data.offset > info->size || data.size > info->size - data.offset) {
    return InvalidInput(At(arg) + DescribeTensor(tensor) + " needs " + std::to_string(data.size) +
                        " bytes from offset " + std::to_string(data.offset) + "; " + data.file +
                        " holds " + std::to_string(info->size));
  }
  return {};
}

Status CheckTensor(FileSystem& fs, const KernelArg& arg, const TensorArg& tensor,
                   Platform platform) {
  if (const auto why = WrongTensor(tensor)) return InvalidInput(At(arg) + *why);
  if (platform != Platform::kA5 && IsA5Only(tensor.type)) {
    return InvalidInput(At(arg) + ArgTypeName(tensor.type) + " exists on a5 only, not on " +
                        PlatformName(platform));
  }
  return tensor.data ? CheckData(fs, arg, tensor) : Status();
}

std::string List(const std::vector<int>& values) {
  std::string text = "[";
  for (const int value : values) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

Status CheckCoverage(const KernelArgs& args, const ReplayKernel& kernel,
                     const std::string& source) {
  std::vector<int> missing;
  for (const int slot : kernel.slots_read()) {
    if (slot == kLocalContextSlot || slot == kGlobalContextSlot) continue;
    if (args.Find(slot) == nullptr) missing.push_back(slot);
  }
  if (missing.empty()) return {};
  return InvalidInput((source.empty() ? "" : source + ": args: ") + "Argument recipe for " +
                      kernel.name + " does not cover args indices: " + List(missing) +
                      "; the kernel reads them (add them to the arg spec)");
}

struct Setting {
  int slot;
  std::string value;
};

Result<Setting> ParseSetting(const std::string& text) {
  const size_t equals = text.find('=');
  int slot = -1;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + std::min(equals, text.size()), slot);
  if (equals == std::string::npos || error != std::errc() || end != text.data() + equals ||
      equals + 1 == text.size()) {
    return InvalidInput("--set-arg takes SLOT=VALUE, not \"" + text + "\"");
  }
  return Setting{slot, text.substr(equals + 1)};
}

}  // namespace

std::optional<std::string> WrongSlot(int64_t slot) {
  if (slot == kLocalContextSlot || slot == kGlobalContextSlot) {
    return "Arg index " + std::to_string(slot) + " is reserved for context pointers (slots 48, 49)";
  }
  if (slot < 0 || slot >= kArgSlots) {
    return "Arg index " + std::to_string(slot) + " exceeds max slots (50)";
  }
  return std::nullopt;
}

Status CheckArgs(FileSystem& fs, const KernelArgs& args, const ReplayKernel& kernel,
                 Platform platform, const std::string& source) {
  std::set<int> seen;
  for (const KernelArg& arg : args.args) {
    if (const auto why = WrongSlot(arg.slot)) return InvalidInput(At(arg) + *why);
    if (!seen.insert(arg.slot).second) {
      return InvalidInput(At(arg) + "Duplicate arg index " + std::to_string(arg.slot));
    }
    if (const TensorArg* tensor = arg.tensor()) {
      KERF_RETURN_IF_ERROR(CheckTensor(fs, arg, *tensor, platform));
    }
  }
  return CheckCoverage(args, kernel, source);
}

Result<int> SetArgSlot(const std::string& text) {
  KERF_ASSIGN_OR_RETURN(const Setting setting, ParseSetting(text));
  return setting.slot;
}

Status SetArg(const std::string& text, KernelArgs& args) {
  KERF_ASSIGN_OR_RETURN(const Setting setting, ParseSetting(text));
  const std::string name = "--set-arg " + std::to_string(setting.slot);
  const auto found = std::find_if(args.args.begin(), args.args.end(),
                                  [&](const KernelArg& arg) { return arg.slot == setting.slot; });
  if (found == args.args.end()) {
    std::vector<int> slots;
    for (const KernelArg& arg : args.args) slots.push_back(arg.slot);
    return InvalidInput(name + ": no argument has this slot; there are " + List(slots));
  }
  const auto parsed = JsonDocument::Parse(name, setting.value);
  if (!parsed.ok()) {
    return InvalidInput(name +
                        ": takes a number, true, false, or \"NaN\" and \"Infinity\" in "
                        "quotes, not " +
                        Brief(setting.value));
  }
  const JsonDocument& document = *parsed;
  if (auto* tensor = std::get_if<TensorArg>(&found->value)) {
    const ArgFamily family = ArgTypeFamily(tensor->type);
    if (family != ArgFamily::kSigned && family != ArgFamily::kUnsigned) {
      return InvalidInput(name + ": " + DescribeTensor(*tensor) +
                          " is no integer tensor; use \"fill\" or \"data\" of an arg spec");
    }
    KERF_ASSIGN_OR_RETURN(tensor->fill_bits, EncodeScalar(tensor->type, document.root()));
    tensor->data.reset();
    return {};
  }
  auto& scalar = std::get<ScalarArg>(found->value);
  const uint64_t before = scalar.bits;
  KERF_ASSIGN_OR_RETURN(scalar.bits, EncodeScalar(scalar.type, document.root()));
  const ArgFamily family = ArgTypeFamily(scalar.type);
  const bool grows = (family == ArgFamily::kSigned || family == ArgFamily::kUnsigned) &&
                     scalar.bits > before && before != 0;
  if (grows) {
    args.notes.push_back(name + ": " + std::to_string(scalar.bits) + " is more than the recorded " +
                         std::to_string(before) + "; buffers may be too small for it");
  }
  return {};
}

}  // namespace kerf::args

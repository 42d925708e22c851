#include "replay/dump/dump_check.h"

#include <map>
#include <utility>

namespace kerf::dump {
namespace {

bool IsContext(const DumpArg& arg) {
  return arg.slot == kLocalContextSlot || arg.slot == kGlobalContextSlot;
}

void CheckArg(const Dump& dump, const DumpArg& arg, std::vector<Finding>& findings) {
  if (arg.slot < 0 || arg.slot >= kArgSlots) {
    findings.push_back(
        {true, arg.where, "Arg index " + std::to_string(arg.slot) + " exceeds max slots (50)"});
    return;
  }
  if (IsContext(arg)) return;
  if (arg.ambiguous) {
    findings.push_back({false, arg.where,
                        "the runtime was not sure of slot " + std::to_string(arg.slot) +
                            " (arg_index_ambiguous)"});
  }
  if (!arg.is_tensor) {
    if (!arg.bits) {
      findings.push_back({false, arg.where,
                          "slot " + std::to_string(arg.slot) +
                              ": a scalar without a value; a replay needs "
                              "--set-arg " +
                              std::to_string(arg.slot) + "=VALUE"});
    }
    return;
  }
  const auto tensor = TensorOf(arg);
  if (!tensor.ok()) {
    findings.push_back({true, "", tensor.error().message});
    return;
  }
  if (arg.bin_size == 0) return;
  if (const auto why = WhyNoPayload(dump, arg)) {
    findings.push_back({true, arg.where, "slot " + std::to_string(arg.slot) + ": " + *why});
  }
}

// Two records of one stage for one slot cannot both be right.
void CheckSlots(const Dispatch& dispatch, std::vector<Finding>& findings) {
  std::map<std::pair<int64_t, DumpStage>, const DumpArg*> seen;
  std::map<int64_t, const DumpArg*> kinds;
  for (const DumpArg& arg : dispatch.args) {
    if (IsContext(arg)) continue;
    const auto [same, fresh] = seen.emplace(std::pair{arg.slot, arg.stage}, &arg);
    if (!fresh) {
      findings.push_back({true, arg.where,
                          "Duplicate arg index " + std::to_string(arg.slot) + " in " +
                              dispatch.ToString() + ": also at " + same->second->where});
    }
    const auto [kind, first] = kinds.emplace(arg.slot, &arg);
    if (!first && kind->second->is_tensor != arg.is_tensor) {
      findings.push_back({true, arg.where,
                          "slot " + std::to_string(arg.slot) + " is a " +
                              (arg.is_tensor ? "tensor" : "scalar") + " here and not at " +
                              kind->second->where});
    }
  }
}

void CheckCounts(const Dump& dump, std::vector<Finding>& findings) {
  int64_t records = 0;
  for (const Dispatch& dispatch : dump.dispatches) {
    records += static_cast<int64_t>(dispatch.args.size());
  }
  if (dump.total_args && *dump.total_args != records) {
    findings.push_back({true, dump.file,
                        "claims " + std::to_string(*dump.total_args) + " records and holds " +
                            std::to_string(records)});
  }
  if (dump.dropped_records > 0) {
    findings.push_back(
        {false, dump.file,
         std::to_string(dump.dropped_records) + " records were dropped: some slots may be absent"});
  }
  if (dump.truncated_args > 0) {
    findings.push_back(
        {false, dump.file, std::to_string(dump.truncated_args) + " payloads were truncated"});
  }
  if (dump.dropped_overwrite > 0) {
    findings.push_back(
        {false, dump.file, std::to_string(dump.dropped_overwrite) + " payloads were overwritten"});
  }
  if (dump.bin_missing) {
    findings.push_back(
        {true, dump.file, "names the payload file " + dump.bin_file + ", which is not there"});
  }
}

}  // namespace

std::optional<std::string> WhyNoPayload(const Dump& dump, const DumpArg& arg) {
  if (arg.bin_size == 0) return "the dump holds no payload";
  if (arg.overwritten)
    return "the payload was overwritten by a later record: its bytes are garbage";
  if (dump.bin_missing) return "the payload file " + dump.bin_file + " is not there";
  if (dump.bin_file.empty()) return "claims a payload and the dump names no bin_file";
  if (!dump.bin_format.empty() && dump.bin_format != "logical_contiguous") {
    return "bin_format \"" + dump.bin_format + "\" is not known; logical_contiguous is";
  }
  const auto tensor = TensorOf(arg);
  if (!tensor.ok()) return tensor.error().message;
  const uint64_t bytes = tensor->view_bytes();
  if (arg.truncated) {
    return "the payload was truncated: the shape needs " + std::to_string(bytes) +
           " bytes, the dump holds " + std::to_string(arg.bin_size);
  }
  if (arg.bin_size != bytes) {
    return "claims " + DescribeTensor(*tensor) + ", which is " + std::to_string(bytes) +
           " bytes; the payload has " + std::to_string(arg.bin_size);
  }
  if (arg.bin_offset > dump.bin_bytes || arg.bin_size > dump.bin_bytes - arg.bin_offset) {
    return "claims bytes " + std::to_string(arg.bin_offset) + " to " +
           std::to_string(arg.bin_offset) + "+" + std::to_string(arg.bin_size) + " of " +
           dump.bin_file + ", which has " + std::to_string(dump.bin_bytes) + " (truncated dump?)";
  }
  return std::nullopt;
}

Result<TensorArg> TensorOf(const DumpArg& arg) {
  const std::string slot = arg.where + ": slot " + std::to_string(arg.slot) + ": ";
  if (!arg.type) {
    return Corrupt(slot +
                   (arg.type_text.empty() ? "the dump has no dtype"
                                          : "unknown dtype \"" + arg.type_text + "\"") +
                   "; write the arguments into an arg spec (kerf args --help)");
  }
  TensorArg tensor{.type = *arg.type,
                   .role = arg.role,
                   .shape = arg.shape,
                   .strides = arg.strides,
                   .start_offset = arg.start_offset};
  if (tensor.strides.empty()) tensor.strides = ContiguousStrides(tensor.shape);
  if (const auto why = WrongTensor(tensor)) return Corrupt(slot + *why);
  return tensor;
}

std::vector<Finding> CheckDump(const Dump& dump) {
  std::vector<Finding> findings;
  CheckCounts(dump, findings);
  for (const Dispatch& dispatch : dump.dispatches) {
    for (const DumpArg& arg : dispatch.args) CheckArg(dump, arg, findings);
    CheckSlots(dispatch, findings);
  }
  return findings;
}

}  // namespace kerf::dump

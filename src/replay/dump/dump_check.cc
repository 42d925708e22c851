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
    const auto [other, first] = kinds.emplace(arg.slot, &arg);
    if (first) continue;
    if (const auto why = WhyNotTheSame(*other->second, arg)) {
      findings.push_back({true, arg.where, *why});
    }
  }
}

// What the file holds, by the names of the members that claim it.
std::map<std::string, int64_t> CountRecords(const Dump& dump) {
  std::map<std::string, int64_t> counts;
  for (const Dispatch& dispatch : dump.dispatches) {
    for (const DumpArg& arg : dispatch.args) {
      ++counts["total_args"];
      ++counts[DumpStageName(arg.stage)];
      ++counts[std::string(ArgRoleName(arg.role)) + "_args"];
    }
  }
  return counts;
}

void CheckCounts(const Dump& dump, std::vector<Finding>& findings) {
  std::map<std::string, int64_t> counts = CountRecords(dump);
  for (const auto& [name, claimed] : dump.claimed_counts) {
    if (claimed == counts[name]) continue;
    findings.push_back({true, dump.file,
                        name + " claims " + std::to_string(claimed) + " records; the file holds " +
                            std::to_string(counts[name])});
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

std::optional<std::string> WhyNotTheSame(const DumpArg& one, const DumpArg& other) {
  const std::string slot = "slot " + std::to_string(other.slot) + " is ";
  if (one.is_tensor != other.is_tensor) {
    return slot + "a " + (other.is_tensor ? "tensor" : "scalar") + " here and not at " + one.where;
  }
  const auto before = TensorOf(one);
  const auto after = TensorOf(other);
  if (!one.is_tensor || !before.ok() || !after.ok()) return std::nullopt;
  if (before->type == after->type && before->shape == after->shape &&
      before->strides == after->strides && before->start_offset == after->start_offset) {
    return std::nullopt;
  }
  return slot + DescribeTensor(*after) + " here and " + DescribeTensor(*before) + " at " +
         one.where;
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
  if (arg.numel && *arg.numel != tensor.numel()) {
    return Corrupt(slot + "claims " + std::to_string(*arg.numel) + " elements; " +
                   DescribeTensor(tensor) + " has " + std::to_string(tensor.numel()));
  }
  // Extents of 1 may have any stride: only what leaves holes is certainly not contiguous.
  const int64_t span = tensor.buffer_elements() - tensor.start_offset;
  if (arg.claims_contiguous && span != tensor.numel()) {
    return Corrupt(slot + "claims to be contiguous; " + DescribeTensor(tensor) + " spans " +
                   std::to_string(span) + " elements and has " + std::to_string(tensor.numel()));
  }
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

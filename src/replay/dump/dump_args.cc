#include "replay/dump/dump_args.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "artifact/scalar_bits.h"
#include "replay/dump/dump_check.h"

namespace kerf::dump {
namespace {

struct Pair {
  const DumpArg* before = nullptr;
  const DumpArg* after = nullptr;
  [[nodiscard]] const DumpArg& first() const { return before != nullptr ? *before : *after; }
};

Result<std::map<int64_t, Pair>> BySlot(const Dispatch& dispatch) {
  std::map<int64_t, Pair> slots;
  for (const DumpArg& arg : dispatch.args) {
    if (arg.slot == kLocalContextSlot || arg.slot == kGlobalContextSlot) continue;
    if (arg.slot < 0 || arg.slot >= kArgSlots) {
      return Corrupt(arg.where + ": Arg index " + std::to_string(arg.slot) +
                     " exceeds max slots (50)");
    }
    Pair& pair = slots[arg.slot];
    const DumpArg*& place = arg.stage == DumpStage::kBefore ? pair.before : pair.after;
    if (place != nullptr) {
      return Corrupt(arg.where + ": Duplicate arg index " + std::to_string(arg.slot) +
                     ": also at " + place->where);
    }
    place = &arg;
    if (pair.before == nullptr || pair.after == nullptr) continue;
    if (const auto why = WhyNotTheSame(*pair.before, *pair.after)) {
      return Corrupt(pair.after->where + ": " + *why);
    }
  }
  return slots;
}

Result<ScalarArg> ScalarOf(const DumpArg& arg, const DumpArgsOptions& options,
                           std::vector<std::string>& notes) {
  const bool given = options.given.count(static_cast<int>(arg.slot)) != 0;
  const std::string set = "--set-arg " + std::to_string(arg.slot) + "=VALUE";
  if (!arg.bits) {
    if (given) return ScalarArg{arg.type.value_or(ArgType::kUInt64), 0};
    return InvalidInput(arg.where + ": slot " + std::to_string(arg.slot) +
                        ": the dump holds no value for this scalar; give it with " + set);
  }
  const ScalarArg scalar{*arg.type, *arg.bits};
  if (arg.rounded && !given) {
    notes.push_back(
        fmt::format("slot {}: {} was printed with 6 digits; its last bits may differ (exact: {})",
                    arg.slot, ScalarText(scalar), set));
  }
  return scalar;
}

// The payload, when the kernel reads the tensor and the bytes can be trusted.
Status AddPayload(const Dump& dump, const DumpArg& arg, const DumpArgsOptions& options,
                  TensorArg& tensor) {
  const bool read = tensor.role != ArgRole::kOutput && arg.stage == DumpStage::kBefore;
  if (!read || arg.bin_size == 0 || !options.payloads) return {};
  if (const auto why = WhyNoPayload(dump, arg)) {
    return Corrupt(arg.where + ": slot " + std::to_string(arg.slot) + ": " + *why +
                   "; --no-payloads replays with zeros instead");
  }
  tensor.data = ArgData{dump.bin_file, arg.bin_offset, arg.bin_size};
  return {};
}

// Data steers control and addresses (block tables, lengths): zeros there change what runs.
bool SteersWithoutData(const TensorArg& tensor) {
  const ArgFamily family = ArgTypeFamily(tensor.type);
  return tensor.role != ArgRole::kOutput && !tensor.data &&
         (family == ArgFamily::kSigned || family == ArgFamily::kUnsigned) &&
         ArgTypeBytes(tensor.type) >= 4;
}

}  // namespace

Result<KernelArgs> ArgsFromDump(const Dump& dump, const Dispatch& dispatch,
                                const DumpArgsOptions& options) {
  KERF_ASSIGN_OR_RETURN(const auto slots, BySlot(dispatch));
  KernelArgs result;
  for (const auto& [slot, pair] : slots) {
    const DumpArg& record = pair.first();
    KernelArg arg{.slot = static_cast<int>(slot),
                  .name = "arg" + std::to_string(slot),
                  .origin = record.where};
    if (!record.is_tensor) {
      KERF_ASSIGN_OR_RETURN(arg.value, ScalarOf(record, options, result.notes));
    } else {
      KERF_ASSIGN_OR_RETURN(TensorArg tensor, TensorOf(record));
      KERF_RETURN_IF_ERROR(AddPayload(dump, record, options, tensor));
      if (SteersWithoutData(tensor)) {
        result.notes.push_back(fmt::format(
            "slot {}: {} is an integer input without data and starts as zeros; where it steers "
            "loops or addresses the timeline is not the run's",
            slot, DescribeTensor(tensor)));
      }
      arg.value = std::move(tensor);
    }
    result.args.push_back(std::move(arg));
  }
  if (dump.dropped_records > 0) {
    result.notes.push_back(std::to_string(dump.dropped_records) +
                           " records of this dump were dropped: slots may be missing");
  }
  return result;
}

}  // namespace kerf::dump

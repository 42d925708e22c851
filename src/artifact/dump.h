// A dump of kernel arguments: what a run of the device wrote down about its dispatches.
// docs/formats/dump.md has the three formats.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "artifact/kernel_args.h"

namespace kerf {

enum class DumpFormat { kKernelArgs, kTensor, kArgs };
const char* DumpFormatName(DumpFormat format);  // "kernel_args_dump", "tensor_dump", "args_dump"

enum class DumpStage { kBefore, kAfter };
const char* DumpStageName(DumpStage stage);  // "before_dispatch", "after_completion"

// One record, as it stands in the file; nothing is trusted yet.
struct DumpArg {
  int64_t slot = 0;
  DumpStage stage = DumpStage::kBefore;
  bool is_tensor = true;
  ArgRole role = ArgRole::kInput;
  std::optional<ArgType> type;  // absent in old dumps
  std::string type_text;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // empty: row-major
  int64_t start_offset = 0;
  std::optional<int64_t> numel;  // what the record claims; absent in old dumps
  bool claims_contiguous = false;
  std::optional<uint64_t> bits;  // a scalar's slot; absent when the dump has no value
  bool rounded = false;          // a float printed with 6 digits: its last bits are lost
  uint64_t bin_offset = 0;
  uint64_t bin_size = 0;  // 0: no payload
  bool truncated = false;
  bool overwritten = false;
  bool ambiguous = false;
  std::string where;  // "args_dump.json: args[12]"
};

struct Dispatch {
  std::optional<int64_t> dispatch_id;
  std::optional<uint64_t> task_id;
  std::set<int64_t> func_ids;  // empty: the dump does not say
  std::string core_type;
  std::vector<DumpArg> args;

  // "dispatch 5 (func 2, task 0x0000000000000011)"
  [[nodiscard]] std::string ToString() const;
};

struct Dump {
  DumpFormat format = DumpFormat::kArgs;
  std::string file;          // the JSON
  std::string bin_file;      // empty: no payloads
  uint64_t bin_bytes = 0;    // its real size
  bool bin_missing = false;  // named, but not there
  std::string bin_format;    // "logical_contiguous"; empty in old dumps
  std::optional<int64_t> level;
  int64_t truncated_args = 0;
  int64_t dropped_records = 0;
  int64_t dropped_overwrite = 0;
  // The counts of records the file claims, by the member's name; absent in old dumps.
  std::map<std::string, int64_t> claimed_counts;
  std::vector<Dispatch> dispatches;  // by task id, or in file order where there is none
};

// "0x0000000100000007"
std::string TaskIdText(uint64_t task_id);
// Hex with or without 0x, or a JSON number's digits; nullopt when it is neither.
std::optional<uint64_t> ParseTaskId(const std::string& text);
// "{0, 1, 2}"
std::string FuncIdsText(const std::set<int64_t>& ids);

}  // namespace kerf

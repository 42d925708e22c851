// A record may come as one argument of one task (args_dump, tensor_dump, the flat form of
// kernel_args_dump) or inside a dispatch object. Both end as Dispatch values: records that share
// their ids are one dispatch, in the order in which the ids first occur.
#include "replay/dump/dump_reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "artifact/scalar_bits.h"
#include "base/json_place.h"

namespace kerf::dump {
namespace {

// What both the dispatch object and each flat record may say about whose argument it is.
struct Ids {
  std::optional<int64_t> dispatch_id;
  std::optional<uint64_t> task_id;
  std::set<int64_t> func_ids;
  std::string core_type;
};

Result<uint64_t> ReadTaskId(const JsonPlace& place) {
  if (!place.is(JsonType::kString)) return place.Unsigned();
  if (const auto id = ParseTaskId(place.node().text)) return *id;
  return place.Wrong("is no task id: \"0x\" and up to 16 hex digits, not \"" +
                     Brief(place.node().text) + "\"");
}

Result<std::set<int64_t>> ReadFuncIds(const JsonPlace& place) {
  std::vector<int64_t> ids;
  if (place.is(JsonType::kArray)) {
    KERF_ASSIGN_OR_RETURN(ids, place.Ints());
  } else {
    KERF_ASSIGN_OR_RETURN(const int64_t id, place.Int());
    ids.push_back(id);
  }
  std::set<int64_t> set;
  for (const int64_t id : ids) {
    if (id >= 0) set.insert(id);  // -1: the runtime did not know
  }
  return set;
}

Result<Ids> ReadIds(const JsonPlace& object) {
  Ids ids;
  if (const auto place = object.Find("dispatch_id")) {
    KERF_ASSIGN_OR_RETURN(ids.dispatch_id, place->Int());
  }
  if (const auto place = object.Find("task_id")) {
    KERF_ASSIGN_OR_RETURN(ids.task_id, ReadTaskId(*place));
  }
  if (const auto place = object.Find("func_id")) {
    KERF_ASSIGN_OR_RETURN(ids.func_ids, ReadFuncIds(*place));
  }
  if (const auto place = object.Find("core_type")) {
    KERF_ASSIGN_OR_RETURN(ids.core_type, place->String());
  }
  return ids;
}

Result<DumpStage> ReadStage(const JsonPlace& place) {
  KERF_ASSIGN_OR_RETURN(const std::string text, place.String());
  if (text == "before_dispatch") return DumpStage::kBefore;
  if (text == "after_completion" || text == "after_dispatch") return DumpStage::kAfter;
  return place.Wrong("is no stage: before_dispatch or after_completion, not \"" + Brief(text) +
                     "\"");
}

// As the runtime prints scalars: FLOAT32 and the integers up to 64 bits as values, all others as
// their raw 64 bits.
Result<uint64_t> ReadValue(ArgType type, const JsonPlace& value, bool& rounded) {
  switch (type) {
    case ArgType::kFloat32:
      if (value.is(JsonType::kNull)) return uint64_t{0x7FC00000};
      rounded = value.is(JsonType::kNumber);
      return EncodeScalar(type, value);
    case ArgType::kInt32:
    case ArgType::kUInt32:
    case ArgType::kInt64:
    case ArgType::kBool:
      return EncodeScalar(type, value);
    default:
      break;
  }
  if (value.IsWhole() && value.node().text[0] == '-') {
    KERF_ASSIGN_OR_RETURN(const int64_t number, value.Int());
    return static_cast<uint64_t>(number);
  }
  if (value.is(JsonType::kNumber) && !value.IsWhole() && ArgTypeFamily(type) == ArgFamily::kFloat) {
    return EncodeScalar(type, value);  // a hand-made dump: no bits look like this
  }
  return value.Unsigned();
}

Status ReadScalar(const JsonPlace& record, DumpArg& arg) {
  for (const auto& [key, node] : record.node().members) {
    if (key != "value") continue;
    const JsonPlace value(arg.where, "value", node);
    if (!arg.type) return value.Wrong("has a value and no dtype it could be read by");
    KERF_ASSIGN_OR_RETURN(arg.bits, ReadValue(*arg.type, value, arg.rounded));
  }
  return {};
}

Result<bool> IsTensor(const JsonPlace& record, const DumpArg& arg) {
  const auto kind = record.Find("kind");
  if (!kind) return !(arg.shape.empty() && arg.bin_size == 0);
  KERF_ASSIGN_OR_RETURN(const std::string text, kind->String());
  if (text == "tensor") return true;
  if (text == "scalar") return false;
  return kind->Wrong("Unknown arg kind: " + Brief(text));
}

template <typename T>
Status ReadOptional(const JsonPlace& record, const char* name, Result<T> (JsonPlace::*read)() const,
                    T& value) {
  const auto place = record.Find(name);
  if (!place) return {};
  KERF_ASSIGN_OR_RETURN(value, ((*place).*read)());
  return {};
}

Result<DumpArg> ReadArg(const JsonPlace& record) {
  DumpArg arg;
  arg.where = record.Where();
  KERF_ASSIGN_OR_RETURN(const JsonPlace index, record.Member("arg_index"));
  KERF_ASSIGN_OR_RETURN(arg.slot, index.Int());
  if (const auto role = record.Find("role")) {
    KERF_ASSIGN_OR_RETURN(const std::string text, role->String());
    const auto known = ParseArgRole(text);
    if (!known)
      return role->Wrong("is no role: input, output or inout, not \"" + Brief(text) + "\"");
    arg.role = *known;
  }
  if (const auto dtype = record.Find("dtype")) {
    KERF_ASSIGN_OR_RETURN(arg.type_text, dtype->String());
    arg.type = ParseArgType(arg.type_text);
  }
  KERF_RETURN_IF_ERROR(ReadOptional(record, "shape", &JsonPlace::Ints, arg.shape));
  KERF_RETURN_IF_ERROR(ReadOptional(record, "strides", &JsonPlace::Ints, arg.strides));
  KERF_RETURN_IF_ERROR(ReadOptional(record, "start_offset", &JsonPlace::Int, arg.start_offset));
  KERF_RETURN_IF_ERROR(ReadOptional(record, "bin_offset", &JsonPlace::Unsigned, arg.bin_offset));
  KERF_RETURN_IF_ERROR(ReadOptional(record, "bin_size", &JsonPlace::Unsigned, arg.bin_size));
  if (const auto place = record.Find("numel")) {
    KERF_ASSIGN_OR_RETURN(arg.numel, place->Int());
  }
  KERF_RETURN_IF_ERROR(
      ReadOptional(record, "is_contiguous", &JsonPlace::Bool, arg.claims_contiguous));
  KERF_RETURN_IF_ERROR(ReadOptional(record, "truncated", &JsonPlace::Bool, arg.truncated));
  KERF_RETURN_IF_ERROR(ReadOptional(record, "overwritten", &JsonPlace::Bool, arg.overwritten));
  KERF_RETURN_IF_ERROR(
      ReadOptional(record, "arg_index_ambiguous", &JsonPlace::Bool, arg.ambiguous));
  KERF_ASSIGN_OR_RETURN(arg.is_tensor, IsTensor(record, arg));
  if (!arg.is_tensor) KERF_RETURN_IF_ERROR(ReadScalar(record, arg));
  return arg;
}

using Key = std::pair<std::optional<int64_t>, std::optional<uint64_t>>;

// Collects records into dispatches.
class Grouping {
 public:
  Status Add(const JsonPlace& record, const Ids& ids, DumpStage stage) {
    KERF_ASSIGN_OR_RETURN(DumpArg arg, ReadArg(record));
    arg.stage = stage;
    if (const auto place = record.Find("stage")) {
      KERF_ASSIGN_OR_RETURN(arg.stage, ReadStage(*place));
    }
    Dispatch& dispatch = Of(ids);
    dispatch.args.push_back(std::move(arg));
    return {};
  }
  Dispatch& Of(const Ids& ids) {
    const Key key{ids.dispatch_id, ids.task_id};
    const auto [entry, fresh] = index_.emplace(key, dispatches_.size());
    if (fresh) {
      dispatches_.push_back({.dispatch_id = ids.dispatch_id, .task_id = ids.task_id});
    }
    Dispatch& dispatch = dispatches_[entry->second];
    dispatch.func_ids.insert(ids.func_ids.begin(), ids.func_ids.end());
    if (dispatch.core_type.empty()) dispatch.core_type = ids.core_type;
    return dispatch;
  }
  std::vector<Dispatch> Take() { return std::move(dispatches_); }

 private:
  std::map<Key, size_t> index_;
  std::vector<Dispatch> dispatches_;
};

// A list of dispatch objects, or of flat records; told apart by "args".
Status ReadKernelArgs(const JsonPlace& root, Grouping& grouping) {
  JsonPlace list = root;
  if (root.is(JsonType::kObject)) {
    KERF_ASSIGN_OR_RETURN(list, root.Member("dispatches"));
  }
  KERF_ASSIGN_OR_RETURN(const std::vector<JsonPlace> items, list.Array());
  for (const JsonPlace& item : items) {
    KERF_ASSIGN_OR_RETURN(const Ids ids, ReadIds(item));
    const auto args = item.Find("args");
    if (!args) {
      KERF_RETURN_IF_ERROR(grouping.Add(item, ids, DumpStage::kBefore));
      continue;
    }
    DumpStage stage = DumpStage::kBefore;
    if (const auto place = item.Find("stage")) {
      KERF_ASSIGN_OR_RETURN(stage, ReadStage(*place));
    }
    grouping.Of(ids);
    KERF_ASSIGN_OR_RETURN(const std::vector<JsonPlace> records, args->Array());
    for (const JsonPlace& record : records) {
      KERF_RETURN_IF_ERROR(grouping.Add(record, ids, stage));
    }
  }
  return {};
}

Status ReadRecords(const JsonPlace& root, const char* list, Grouping& grouping) {
  KERF_ASSIGN_OR_RETURN(const JsonPlace place, root.Member(list));
  KERF_ASSIGN_OR_RETURN(const std::vector<JsonPlace> records, place.Array());
  for (const JsonPlace& record : records) {
    KERF_RETURN_IF_ERROR(record.Member("task_id"));
    KERF_ASSIGN_OR_RETURN(const Ids ids, ReadIds(record));
    KERF_RETURN_IF_ERROR(grouping.Add(record, ids, DumpStage::kBefore));
  }
  return {};
}

Status ReadHeader(const JsonPlace& root, Dump& dump) {
  if (!root.is(JsonType::kObject)) return {};
  KERF_RETURN_IF_ERROR(ReadOptional(root, "bin_file", &JsonPlace::String, dump.bin_file));
  // A file beside the JSON and nothing else: a dump may come from anywhere.
  if (dump.bin_file.find('/') != std::string::npos || dump.bin_file == "..") {
    return root.Wrong("bin_file \"" + Brief(dump.bin_file) + "\" must be a plain file name");
  }
  KERF_RETURN_IF_ERROR(ReadOptional(root, "truncated_args", &JsonPlace::Int, dump.truncated_args));
  KERF_RETURN_IF_ERROR(
      ReadOptional(root, "dropped_records", &JsonPlace::Int, dump.dropped_records));
  KERF_RETURN_IF_ERROR(
      ReadOptional(root, "dropped_overwrite", &JsonPlace::Int, dump.dropped_overwrite));
  for (const char* name : {"total_args", "before_dispatch", "after_completion", "input_args",
                           "output_args", "inout_args"}) {
    if (const auto place = root.Find(name)) {
      KERF_ASSIGN_OR_RETURN(dump.claimed_counts[name], place->Int());
    }
  }
  if (const auto place = root.Find("dump_args_level")) {
    KERF_ASSIGN_OR_RETURN(dump.level, place->Int());
  }
  const auto format = root.Find("bin_format");
  if (!format) return {};
  KERF_RETURN_IF_ERROR(ReadOptional(*format, "type", &JsonPlace::String, dump.bin_format));
  std::string order = "little_endian";
  KERF_RETURN_IF_ERROR(ReadOptional(*format, "byte_order", &JsonPlace::String, order));
  if (order != "little_endian") {
    return format->Wrong("byte_order \"" + Brief(order) + "\" is not known; little_endian is");
  }
  return {};
}

// Task ids in ascending order; dispatches without one stay where they are, in front.
void SortByTask(std::vector<Dispatch>& dispatches) {
  std::stable_sort(dispatches.begin(), dispatches.end(),
                   [](const Dispatch& a, const Dispatch& b) { return a.task_id < b.task_id; });
}

}  // namespace

Result<Dump> ParseDump(DumpFormat format, const std::string& file, std::string_view text) {
  KERF_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(file, text));
  Dump dump{.format = format, .file = file};
  const JsonPlace root = document.root();
  KERF_RETURN_IF_ERROR(ReadHeader(root, dump));
  Grouping grouping;
  if (format == DumpFormat::kKernelArgs) {
    KERF_RETURN_IF_ERROR(ReadKernelArgs(root, grouping));
  } else {
    KERF_RETURN_IF_ERROR(
        ReadRecords(root, format == DumpFormat::kArgs ? "args" : "tensors", grouping));
  }
  dump.dispatches = grouping.Take();
  if (format != DumpFormat::kKernelArgs) SortByTask(dump.dispatches);
  return dump;
}

Result<Dump> ReadDump(FileSystem& fs, const std::string& dir) {
  constexpr std::pair<DumpFormat, const char*> kFiles[] = {
      {DumpFormat::kKernelArgs, "kernel_args_dump.json"},
      {DumpFormat::kArgs, "args_dump.json"},
      {DumpFormat::kTensor, "tensor_dump.json"}};
  std::string looked;
  for (const auto& [format, name] : kFiles) {
    for (const char* sub : {"", "args_dump", "tensor_dump"}) {
      const std::string folder = *sub == '\0' ? dir : JoinPath(dir, sub);
      const std::string path = JoinPath(folder, name);
      KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(path));
      if (!info) continue;
      KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(path));
      KERF_ASSIGN_OR_RETURN(Dump dump, ParseDump(format, path, text));
      if (dump.bin_file.empty()) return dump;
      dump.bin_file = JoinPath(folder, dump.bin_file);
      KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> bin, fs.Stat(dump.bin_file));
      dump.bin_missing = !bin || bin->kind != FileKind::kFile;
      dump.bin_bytes = dump.bin_missing ? 0 : bin->size;
      return dump;
    }
    looked += (looked.empty() ? "" : ", ") + std::string(name);
  }
  return NotFound(
      dir + ": no dump here: none of " + looked +
      " found in it or in its args_dump/ and tensor_dump/; is it a run's output folder?");
}

}  // namespace kerf::dump

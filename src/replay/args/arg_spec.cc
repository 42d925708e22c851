#include "replay/args/arg_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "artifact/scalar_bits.h"
#include "base/file_system.h"
#include "base/json_place.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "replay/args/arg_rules.h"

namespace kerf::args {
namespace {

Result<ArgType> ReadType(const JsonPlace& arg) {
  KERF_ASSIGN_OR_RETURN(const JsonPlace place, arg.Member("dtype"));
  KERF_ASSIGN_OR_RETURN(const std::string text, place.String());
  if (const auto type = ParseArgType(text)) return *type;
  return place.Wrong("unknown dtype \"" + Brief(text) + "\"; known are " + ArgTypeNames());
}

// "zero", "one", or a number of the tensor's type.
Result<uint64_t> ReadFill(ArgType type, const JsonPlace& fill) {
  if (!fill.is(JsonType::kString)) return EncodeScalar(type, fill);
  const std::string& text = fill.node().text;
  if (text == "zero" || text == "zeros") return uint64_t{0};
  if (text != "one" && text != "ones") {
    return fill.Wrong("unknown fill \"" + Brief(text) + "\": zero, one or a number");
  }
  if (ArgTypeFamily(type) == ArgFamily::kFloat) return *FloatBits(type, 1.0);
  if (ArgTypeFamily(type) == ArgFamily::kRaw) {
    return fill.Wrong(std::string(ArgTypeName(type)) + " can only be filled with zero");
  }
  return uint64_t{1};
}

Result<ArgData> ReadData(const JsonPlace& arg, const JsonPlace& data, const std::string& folder,
                         const TensorArg& tensor) {
  KERF_ASSIGN_OR_RETURN(const std::string path, data.String());
  if (path.empty()) return data.Wrong("must name a file");
  ArgData read{path[0] == '/' ? path : JoinPath(folder, path), 0, tensor.view_bytes()};
  if (const auto place = arg.Find("data_offset")) {
    KERF_ASSIGN_OR_RETURN(read.offset, place->Unsigned());
  }
  // JSON holds no other bytes: the spec could not be written again.
  if (DetectEncoding(read.file) != TextEncoding::kUtf8) {
    return data.Wrong("must name a file whose path is UTF-8");
  }
  return read;
}

Result<TensorArg> ReadTensor(const JsonPlace& arg, const std::string& folder) {
  KERF_RETURN_IF_ERROR(arg.OnlyMembers({"kind", "index", "name", "dtype", "shape", "role", "fill",
                                        "strides", "start_offset", "data", "data_offset"}));
  TensorArg tensor;
  KERF_ASSIGN_OR_RETURN(tensor.type, ReadType(arg));
  KERF_ASSIGN_OR_RETURN(const JsonPlace shape, arg.Member("shape"));
  KERF_ASSIGN_OR_RETURN(tensor.shape, shape.Ints());
  tensor.strides = ContiguousStrides(tensor.shape);
  if (const auto place = arg.Find("strides")) {
    KERF_ASSIGN_OR_RETURN(tensor.strides, place->Ints());
  }
  if (const auto place = arg.Find("start_offset")) {
    KERF_ASSIGN_OR_RETURN(tensor.start_offset, place->Int());
  }
  if (const auto place = arg.Find("role")) {
    KERF_ASSIGN_OR_RETURN(const std::string text, place->String());
    const auto role = ParseArgRole(text);
    if (!role) return place->Wrong("unknown role \"" + Brief(text) + "\": input, output or inout");
    tensor.role = *role;
  }
  if (const auto why = WrongTensor(tensor)) return arg.Wrong(*why);
  const auto fill = arg.Find("fill");
  if (fill) {
    KERF_ASSIGN_OR_RETURN(tensor.fill_bits, ReadFill(tensor.type, *fill));
  }
  if (const auto data = arg.Find("data")) {
    if (fill) return arg.Wrong("has both \"fill\" and \"data\"; give one of them");
    KERF_ASSIGN_OR_RETURN(tensor.data, ReadData(arg, *data, folder, tensor));
  } else if (arg.Find("data_offset")) {
    return arg.Wrong("\"data_offset\" without \"data\"");
  }
  return tensor;
}

struct Packing {
  ArgType type;
  bool bits;
};

// FLOAT32_BITS is FLOAT32 with pack_mode bits.
Result<Packing> ReadPacking(const JsonPlace& arg) {
  KERF_ASSIGN_OR_RETURN(const JsonPlace place, arg.Member("dtype"));
  KERF_ASSIGN_OR_RETURN(std::string text, place.String());
  Packing packing{ArgType::kFloat32, false};
  for (const auto& [name, type] : {std::pair{"FLOAT32_BITS", ArgType::kFloat32},
                                   std::pair{"FLOAT64_BITS", ArgType::kFloat64}}) {
    std::string upper = text;
    std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
    if (upper == name) packing = {type, true};
  }
  if (!packing.bits) {
    KERF_ASSIGN_OR_RETURN(packing.type, ReadType(arg));
  }
  const auto mode = arg.Find("pack_mode");
  if (!mode) return packing;
  KERF_ASSIGN_OR_RETURN(text, mode->String());
  if (text != "value" && text != "bits") {
    return mode->Wrong("unknown pack_mode \"" + Brief(text) + "\": value or bits");
  }
  packing.bits = packing.bits || text == "bits";
  return packing;
}

Result<ScalarArg> ReadScalar(const JsonPlace& arg, std::vector<std::string>& notes) {
  KERF_RETURN_IF_ERROR(
      arg.OnlyMembers({"kind", "index", "name", "dtype", "value", "bits", "pack_mode"}));
  KERF_ASSIGN_OR_RETURN(const Packing packing, ReadPacking(arg));
  ScalarArg scalar{packing.type, 0};
  if (const auto bits = arg.Find("bits")) {
    if (arg.Find("value")) return arg.Wrong("has both \"value\" and \"bits\"; give one of them");
    KERF_ASSIGN_OR_RETURN(scalar.bits, EncodeRawBits(packing.type, *bits));
    return scalar;
  }
  KERF_ASSIGN_OR_RETURN(const JsonPlace value, arg.Member("value"));
  // Whoever packs bits and writes a whole number has packed them already; 1.0 is the number.
  if (packing.bits && ArgTypeFamily(packing.type) == ArgFamily::kFloat && value.IsWhole()) {
    KERF_ASSIGN_OR_RETURN(scalar.bits, EncodeRawBits(packing.type, value));
    notes.push_back(value.Where() + ": " + value.node().text + " is taken as the raw bits of " +
                    ScalarText(scalar) + "; write " + value.node().text + ".0 for the number");
    return scalar;
  }
  KERF_ASSIGN_OR_RETURN(scalar.bits, EncodeScalar(packing.type, value));
  return scalar;
}

Result<KernelArg> ReadArg(const JsonPlace& place, const std::string& folder,
                          std::vector<std::string>& notes) {
  KERF_ASSIGN_OR_RETURN(const JsonPlace index, place.Member("index"));
  KERF_ASSIGN_OR_RETURN(const int64_t slot, index.Int());
  if (const auto why = WrongSlot(slot)) return index.Wrong(*why);
  KernelArg arg{.slot = static_cast<int>(slot), .origin = place.Where()};
  KERF_ASSIGN_OR_RETURN(const JsonPlace name, place.Member("name"));
  KERF_ASSIGN_OR_RETURN(arg.name, name.String());
  std::string kind = place.Find("shape") ? "tensor" : "scalar";
  if (const auto given = place.Find("kind")) {
    KERF_ASSIGN_OR_RETURN(kind, given->String());
    if (kind != "tensor" && kind != "scalar") {
      return given->Wrong("Unknown arg kind: " + Brief(kind) + "; tensor or scalar");
    }
  }
  if (kind == "tensor") {
    KERF_ASSIGN_OR_RETURN(arg.value, ReadTensor(place, folder));
  } else {
    KERF_ASSIGN_OR_RETURN(arg.value, ReadScalar(place, notes));
  }
  return arg;
}

void WriteTensor(const TensorArg& tensor, JsonWriter& json) {
  const auto list = [&](const char* key, const std::vector<int64_t>& values) {
    json.Key(key).BeginArray();
    for (const int64_t value : values) json.Int(value);
    json.EndArray();
  };
  json.Key("dtype").String(ArgTypeName(tensor.type));
  list("shape", tensor.shape);
  if (tensor.role != ArgRole::kInput) json.Key("role").String(ArgRoleName(tensor.role));
  if (!tensor.contiguous()) list("strides", tensor.strides);
  if (tensor.start_offset != 0) json.Key("start_offset").Int(tensor.start_offset);
  if (tensor.data) {
    json.Key("data").String(tensor.data->file);
    if (tensor.data->offset != 0) {
      json.Key("data_offset").Raw(std::to_string(tensor.data->offset));
    }
  } else if (tensor.fill_bits != 0) {
    json.Key("fill").Raw(ScalarLiteral(tensor.type, tensor.fill_bits).value_or("0"));
  }
}

void WriteScalar(const ScalarArg& scalar, JsonWriter& json) {
  json.Key("dtype").String(ArgTypeName(scalar.type));
  if (const auto literal = ScalarLiteral(scalar.type, scalar.bits)) {
    json.Key("value").Raw(*literal);
  } else {
    json.Key("bits").String(fmt::format("{:#x}", scalar.bits));
  }
}

}  // namespace

Result<KernelArgs> ParseArgSpec(const std::string& file, const std::string& folder,
                                std::string_view text) {
  KERF_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(file, text));
  JsonPlace list = document.root();
  if (list.is(JsonType::kObject)) {
    KERF_RETURN_IF_ERROR(list.OnlyMembers({"args"}));
    KERF_ASSIGN_OR_RETURN(list, list.Member("args"));
  }
  KERF_ASSIGN_OR_RETURN(const std::vector<JsonPlace> places, list.Array());
  KernelArgs args;
  std::map<int, std::string> seen;
  for (const JsonPlace& place : places) {
    KERF_ASSIGN_OR_RETURN(KernelArg arg, ReadArg(place, folder, args.notes));
    const auto [first, fresh] = seen.emplace(arg.slot, arg.origin);
    if (!fresh) {
      return place.Wrong("Duplicate arg index " + std::to_string(arg.slot) + ": also at " +
                         first->second);
    }
    args.args.push_back(std::move(arg));
  }
  std::sort(args.args.begin(), args.args.end(),
            [](const KernelArg& a, const KernelArg& b) { return a.slot < b.slot; });
  return args;
}

std::string WriteArgSpec(const KernelArgs& args) {
  std::string text = "{\"args\": [";
  const char* comma = "\n";
  for (const KernelArg& arg : args.args) {
    std::string line;
    JsonWriter json(line);
    json.BeginObject().Key("kind").String(arg.tensor() != nullptr ? "tensor" : "scalar");
    json.Key("index").Int(arg.slot).Key("name").String(arg.name);
    if (const TensorArg* tensor = arg.tensor()) {
      WriteTensor(*tensor, json);
    } else {
      WriteScalar(*arg.scalar(), json);
    }
    json.EndObject();
    text += comma + ("  " + line);
    comma = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace kerf::args

#include "synth/contraction_text.h"

#include <set>

#include "base/check.h"

namespace kerf::synth {
namespace {

// The value with every line but the first indented, without a line break at its end.
std::string Indented(const std::string& value, const std::string& indent) {
  std::string text;
  for (size_t i = 0; i < value.size(); ++i) {
    text += value[i];
    const bool more = value[i] == '\n' && i + 1 < value.size();
    if (more && value[i + 1] != '#' && value[i + 1] != '\n') text += indent;
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string FillLine(const std::string& line, const std::map<std::string, std::string>& values) {
  std::string out;
  size_t at = 0;
  while (at < line.size()) {
    const size_t open = line.find('@', at);
    const size_t close = open == std::string::npos ? open : line.find('@', open + 1);
    if (close == std::string::npos) break;
    const auto found = values.find(line.substr(open + 1, close - open - 1));
    KERF_CHECK(found != values.end(), "a template of emitted text names a value that is not given");
    out += line.substr(at, open - at) + found->second;
    at = close + 1;
  }
  return out + line.substr(at);
}

}  // namespace

std::string Fill(const std::string& text, const std::map<std::string, std::string>& values) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const size_t first = line.find_first_not_of(' ');
    const bool alone = first != std::string::npos && line.size() > first + 2 &&
                       line[first] == '@' && line.find('@', first + 1) == line.size() - 1;
    if (!alone) {
      out += FillLine(line, values) + '\n';
      continue;
    }
    const std::string filled = FillLine(line.substr(first), values);
    if (filled.empty()) continue;
    const std::string indent = filled[0] == '#' ? "" : line.substr(0, first);
    out += indent + Indented(filled, line.substr(0, first)) + '\n';
  }
  return out;
}

std::string ElementType(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
    case DType::kBFloat16:
      return "uint16_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kInt64:
      return "int64_t";
    case DType::kBool:
    case DType::kUInt8:
      return "uint8_t";
    default:
      return "float";
  }
}

std::string PointerType(DType dtype) { return "const " + ElementType(dtype) + "*"; }

std::string Converted(DType dtype, DType accumulate, const std::string& element) {
  std::string value = element;
  if (dtype == DType::kFloat16) value = "tiles::FromHalf(" + element + ")";
  if (dtype == DType::kBFloat16) value = "tiles::FromBfloat(" + element + ")";
  const DType type = DTypeBytes(dtype) == 2 ? DType::kFloat32 : dtype;
  return type == accumulate ? value : "static_cast<" + ElementType(accumulate) + ">(" + value + ")";
}

std::string OperandElement(const Operand& operand, const std::vector<int64_t>& batch_sizes,
                           DType accumulate, const std::string& pointer, const std::string& row,
                           const std::string& col) {
  if (operand.load) {
    return "static_cast<" + ElementType(accumulate) + ">(" + operand.load("batch", row, col) + ")";
  }
  std::string at = OffsetText(batch_sizes, operand.batch_strides, "batch");
  if (at == "0") at.clear();
  for (const auto& [index, stride] :
       {std::pair(row, operand.row_stride), std::pair(col, operand.col_stride)}) {
    if (stride == 0) continue;
    if (!at.empty()) at += " + ";
    at += stride == 1 ? index : index + " * " + Number(stride);
  }
  return Converted(operand.dtype, accumulate, pointer + "[" + (at.empty() ? "0" : at) + "]");
}

Status CheckParameters(const Epilogue& epilogue) {
  // Parameters and locals of the templates that the caller's text, or a call with its parameters,
  // stands in.
  static const std::set<std::string> taken = {
      "a",           "b",       "batch",   "begin",     "c",         "channel",  "chunk",
      "chunks",      "col",     "cols",    "count",     "depth",     "end",      "f0",
      "f1",          "f2",      "f3",      "factor",    "filter",    "first",    "group",
      "height",      "i",       "image",   "input",     "job",       "k",        "key",
      "keys",        "layer",   "mask",    "od",        "oh",        "ow",       "packed",
      "part",        "partial", "parts",   "phase",     "pixels",    "position", "q",
      "queries",     "r",       "rest",    "row",       "rows",      "s",        "s0",
      "s1",          "s2",      "s3",      "sample",    "scores",    "state",    "strip",
      "sums",        "team",    "threads", "tile",      "tiles",     "to",       "total",
      "v",           "value",   "values",  "wanted",    "weight",    "width",    "blocks",
      "panel",       "query",   "d",       "first_row", "first_col", "first_k",  "first_key",
      "first_query", "first_ow"};
  for (const Parameter& parameter : epilogue.parameters) {
    if (taken.count(parameter.name) == 0) continue;
    return InvalidInput("contraction: a parameter of the epilogue is called '" + parameter.name +
                        "', as a variable of the emitted function; choose another name");
  }
  return {};
}

bool CanBeElement(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || CanBeAccumulated(dtype);
}

bool CanBeAccumulated(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kInt32 ||
         dtype == DType::kInt64;
}

std::string DeclaredParameters(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& parameter : parameters)
    text += ", " + parameter.type + " " + parameter.name;
  return text;
}

std::string PassedParameters(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& parameter : parameters) text += ", " + parameter.name;
  return text;
}

std::string OffsetText(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                       const std::string& index) {
  // Neighbours that are one dimension in memory become one; those of size 1 say nothing.
  std::vector<int64_t> kept_sizes;
  std::vector<int64_t> kept_strides;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (!kept_sizes.empty() && kept_strides.back() == strides[i] * sizes[i]) {
      kept_sizes.back() *= sizes[i];
      kept_strides.back() = strides[i];
    } else {
      kept_sizes.push_back(sizes[i]);
      kept_strides.push_back(strides[i]);
    }
  }
  std::string text;
  int64_t inner = 1;
  for (size_t i = kept_sizes.size(); i-- > 0; inner *= kept_sizes[i]) {
    if (kept_strides[i] == 0) continue;
    std::string part = inner == 1 ? index : index + " / " + Number(inner);
    if (i > 0) part += " % " + Number(kept_sizes[i]);
    if (kept_strides[i] != 1)
      part = (part == index ? part : "(" + part + ")") + " * " + Number(kept_strides[i]);
    text = text.empty() ? part : part + " + " + text;
  }
  return text.empty() ? "0" : text;
}

std::vector<std::string> Coordinates(const std::vector<int64_t>& sizes, const std::string& index) {
  std::vector<std::string> texts(sizes.size());
  int64_t inner = 1;
  for (size_t i = sizes.size(); i-- > 0; inner *= sizes[i]) {
    std::string text = inner == 1 ? index : index + " / " + Number(inner);
    if (i > 0) text += " % " + Number(sizes[i]);
    texts[i] = text == index ? index : "(" + text + ")";
  }
  return texts;
}

int64_t CeilDiv(int64_t value, int64_t by) { return (value + by - 1) / by; }

int64_t Product(const std::vector<int64_t>& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

std::string Number(int64_t value) { return std::to_string(value); }

}  // namespace kerf::synth

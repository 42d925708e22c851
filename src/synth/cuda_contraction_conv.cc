// A convolution on a GPU is the product weight[filter, term] * columns[term, position] of each
// sample and group, where a term is (channel, tap) and the columns are read from the image as they
// are needed.
#include <algorithm>

#include "synth/contraction_text.h"
#include "synth/cuda_contraction.h"

namespace kerf::synth {
namespace {

struct ConvSizes {
  std::vector<int64_t> input, output, kernel, stride, padding, dilation;
};

ConvSizes SizesOf(const ConvSpec& spec) {
  const auto head = [&](const std::array<int64_t, 3>& all) {
    return std::vector<int64_t>(all.begin(), all.begin() + spec.dims);
  };
  ConvSizes sizes{head(spec.input),   {}, head(spec.kernel), head(spec.stride), head(spec.padding),
                  head(spec.dilation)};
  for (int i = 0; i < spec.dims; ++i)
    sizes.output.push_back(std::max<int64_t>(spec.OutputSize(i), 0));
  return sizes;
}

// Text of one element of the columns. A lambda, because it has conditions and intermediate values.
std::string ColumnText(const ConvSpec& spec, const ConvSizes& sizes, const std::string& batch,
                       const std::string& term, const std::string& position) {
  const int64_t taps = Product(sizes.kernel);
  const int64_t channels = spec.in_channels / spec.groups;
  std::string text = "[&]() -> " + ElementType(spec.dtype) +
                     " {\n  const int term = static_cast<int>(" + term +
                     "), position = static_cast<int>(" + position + ");\n";
  const auto at = Coordinates(sizes.output, "position");
  const auto tap = Coordinates(sizes.kernel, "(term % " + Number(taps) + ")");
  std::string offset = "(" + batch + " * " + Number(channels) + " + term / " + Number(taps) + ")";
  for (int i = 0; i < spec.dims; ++i) {
    const auto d = static_cast<size_t>(i);
    const std::string name = "at" + Number(i);
    const std::string reach = tap[d] + " * " + Number(sizes.dilation[d]);
    if (spec.transposed) {
      const std::string stride = Number(sizes.stride[d]);
      text += "  const int spread" + Number(i) + " = " + at[d] + " + " + Number(sizes.padding[d]) +
              " - " + reach + ";\n  if (spread" + Number(i) + " < 0 || spread" + Number(i) + " % " +
              stride + " != 0) return 0;\n" + "  const int " + name + " = spread" + Number(i) +
              " / " + stride + ";\n";
    } else {
      text += "  const int " + name + " = " + at[d] + " * " + Number(sizes.stride[d]) + " - " +
              Number(sizes.padding[d]) + " + " + reach + ";\n";
    }
    text += "  if (" + name + " < 0 || " + name + " >= " + Number(sizes.input[d]) + ") return 0;\n";
    offset = "(" + offset + " * " + Number(sizes.input[d]) + " + " + name + ")";
  }
  return text + "  return b[" + offset + "];\n}()";
}

}  // namespace

Result<std::string> EmitCudaConv(const ConvSpec& spec, const std::string& function_name,
                                 const Epilogue& epilogue, const CudaTarget& target) {
  KERF_RETURN_IF_ERROR(CheckConv(spec));
  const ConvSizes sizes = SizesOf(spec);
  const int64_t taps = Product(sizes.kernel);
  const int64_t channels = spec.in_channels / spec.groups;
  const int64_t filters = spec.out_channels / spec.groups;
  const int64_t pixels = Product(sizes.input);
  MatmulSpec product;
  product.batch = {spec.batch, spec.groups};
  product.m = filters;
  product.n = Product(sizes.output);
  product.k = channels * taps;
  product.accumulate = spec.accumulate;
  product.a = {spec.dtype, {0, filters * channels * taps}, channels * taps, 1};
  product.b = {spec.dtype, {spec.in_channels * pixels, channels * pixels}, pixels, 1};
  const auto converted = [=](const std::string& element) {
    if (spec.dtype == DType::kFloat16) return "kerf_from_half(" + element + ")";
    if (spec.dtype == DType::kBFloat16) return "kerf_from_bfloat(" + element + ")";
    return element;
  };
  const bool pointwise =
      taps == 1 && product.n == pixels &&
      std::all_of(sizes.padding.begin(), sizes.padding.end(), [](int64_t pad) { return pad == 0; });
  if (!pointwise) {
    product.b.load = [=](const std::string& batch, const std::string& row, const std::string& col) {
      return converted(ColumnText(spec, sizes, batch, row, col));
    };
  }
  if (spec.transposed) {
    product.a.load = [=](const std::string& batch, const std::string& row, const std::string& col) {
      const std::string group = "(" + batch + " % " + Number(spec.groups) + " * " +
                                Number(channels) + " + " + col + " / " + Number(taps) + ")";
      return converted("a[(" + group + " * " + Number(filters) + " + " + row + ") * " +
                       Number(taps) + " + " + col + " % " + Number(taps) + "]");
    };
  }
  const auto site = [=](const OutputSite& at) {
    OutputSite mapped = at;
    mapped.batch = "(" + at.batch + " / " + Number(spec.groups) + ")";
    mapped.row = "(" + at.batch + " % " + Number(spec.groups) + " * " + Number(filters) + " + " +
                 at.row + ")";
    if (!at.col.empty()) mapped.position = Coordinates(sizes.output, at.col);
    return mapped;
  };
  Epilogue adapted = epilogue;
  adapted.store = [=](const OutputSite& at) { return epilogue.store(site(at)); };
  if (epilogue.before_row) {
    adapted.before_row = [=](const OutputSite& at) { return epilogue.before_row(site(at)); };
  }
  KERF_ASSIGN_OR_RETURN(const std::string text,
                        EmitCudaMatmul(product, function_name + "_product", adapted, target));
  return text + "\nstatic cudaError_t " + function_name + "(" + PointerType(spec.dtype) +
         " input, " + PointerType(spec.dtype) + " weight" +
         DeclaredParameters(epilogue.parameters) + ", cudaStream_t stream) {\n  return " +
         function_name + "_product(weight, input" + PassedParameters(epilogue.parameters) +
         ", stream);\n}\n";
}

}  // namespace kerf::synth

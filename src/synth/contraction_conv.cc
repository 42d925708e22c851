// Convolutions, as a product of weights with an image that is never unrolled.
//
// A job copies what a block of outputs reads into scratch memory: padded with zeros, converted, and
// split by the stride's phases, so that for a fixed tap neighbouring outputs read neighbouring
// pixels. Output (h, w) of the block is then pixel p = h * kImageWidth + w, and a tap reads
// image[offset + p]: a contiguous run over all rows of the block. Between the rows lie a few pixels
// that no output belongs to; their sums are not stored. The register tile is that of a matrix
// product, output channels by pixels.
//
// A transposed convolution is gathered: outputs of one phase of the stride read the input with
// stride one through the taps that meet them. Without spatial reach (1×1, stride 1) a convolution
// is a matrix product.
#include <algorithm>
#include <numeric>

#include "synth/contraction.h"
#include "synth/contraction_text.h"

namespace kerf::synth {
namespace {

using Values = std::map<std::string, std::string>;
using Sizes =
    std::array<int64_t, 3>;  // depth, height, width; 1 where the convolution has fewer dimensions

struct Tap {
  int64_t kernel_index = 0;  // within the kernel's elements
  int64_t offset = 0;        // within a channel's image
};

// One dimension of the way from input to output.
struct Axis {
  int64_t input = 1;
  int64_t output = 1;
  int64_t kernel = 1;
  int64_t in_step = 1;           // input pixels from one output of a block to the next
  int64_t out_step = 1;          // outputs of one phase are so far apart
  int64_t outputs = 1;           // of one phase, at most
  int64_t reach = 0;             // image pixels a block needs beyond its outputs
  std::vector<int64_t> origins;  // input pixel of image pixel 0, for each part of the image
  // By output phase: for each tap the part of the image and the shift in it; part -1: the tap does
  // not meet it.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> meets;
};

Axis ForwardAxis(const ConvSpec& spec, int dim) {
  Axis axis{spec.input[dim], spec.OutputSize(dim), spec.kernel[dim], spec.stride[dim]};
  axis.outputs = axis.output;
  std::vector<int64_t> part_of_phase(static_cast<size_t>(axis.in_step), -1);
  axis.meets.resize(1);
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t at = k * spec.dilation[dim];
    int64_t& part = part_of_phase[static_cast<size_t>(at % axis.in_step)];
    if (part < 0) {
      part = static_cast<int64_t>(axis.origins.size());
      axis.origins.push_back(at % axis.in_step - spec.padding[dim]);
    }
    axis.meets[0].emplace_back(part, at / axis.in_step);
    axis.reach = std::max(axis.reach, at / axis.in_step);
  }
  return axis;
}

Axis TransposedAxis(const ConvSpec& spec, int dim) {
  Axis axis{spec.input[dim], spec.OutputSize(dim), spec.kernel[dim], 1, spec.stride[dim]};
  axis.outputs = CeilDiv(axis.output, axis.out_step);
  int64_t least = 0;
  int64_t most = 0;
  for (const bool placing : {false, true}) {
    for (int64_t phase = 0; phase < axis.out_step; ++phase) {
      if (placing) axis.meets.emplace_back();
      for (int64_t k = 0; k < axis.kernel; ++k) {
        const int64_t from = phase + spec.padding[dim] - k * spec.dilation[dim];
        const bool met = from % axis.out_step == 0;
        const int64_t shift = from / axis.out_step;
        if (placing) axis.meets.back().emplace_back(met ? 0 : -1, shift - least);
        if (met) least = std::min(least, shift);
        if (met) most = std::max(most, shift);
      }
    }
  }
  axis.reach = most - least;
  axis.origins = {least};
  return axis;
}

struct ConvPlan {
  std::array<Axis, 3> axes;
  int64_t channels = 1;  // of a group
  int64_t filters = 1;   // output channels of a group
  Sizes block = {1, 1, 1};
  Sizes image = {1, 1, 1};
  int64_t parts = 1;  // of the image
  std::vector<Sizes> phases;
  std::vector<std::vector<Tap>> taps;  // by phase
  int64_t filter_parts = 1;

  [[nodiscard]] int64_t PartSize() const { return image[0] * image[1] * image[2]; }
  [[nodiscard]] int64_t Jobs() const {
    int64_t jobs = 1;
    for (int i = 0; i < 3; ++i) jobs *= CeilDiv(axes[i].outputs, block[i]);
    return jobs;
  }
};

void PlaceImage(ConvPlan& plan) {
  for (int i = 0; i < 3; ++i) plan.image[i] = plan.block[i] + plan.axes[i].reach;
}

// The largest block whose image stays in the second-level cache; smaller where that leaves threads
// idle.
void ChooseBlock(const ConvSpec& spec, const CpuTarget& target, ConvPlan& plan) {
  const int64_t bytes = static_cast<int64_t>(DTypeBytes(spec.accumulate));
  const auto image_bytes = [&] {
    PlaceImage(plan);
    return plan.channels * plan.parts * plan.PartSize() * bytes;
  };
  const Axis& high = plan.axes[1];
  const Axis& wide = plan.axes[2];
  const auto evenly = [](int64_t total, int64_t most) {
    return CeilDiv(total, CeilDiv(total, most));
  };
  int64_t most_wide = 512;
  do {
    plan.block = {1, 1, evenly(wide.outputs, most_wide)};
    most_wide /= 2;
  } while (image_bytes() > target.l2_bytes / 2 && most_wide >= 64);
  // 1024 pixels: the sums of a tile of channels, which wait until their rows are complete, stay
  // beside the image.
  const int64_t pixels = plan.block[2] + wide.reach;
  const int64_t samples = spec.batch * spec.groups * plan.axes[0].outputs;
  for (int64_t rows = std::clamp<int64_t>(1024 / pixels, 1, high.outputs); rows > 0; --rows) {
    plan.block[1] = evenly(high.outputs, rows);
    if (image_bytes() > target.l2_bytes * 3 / 8 && rows > 1) continue;
    if (samples * plan.Jobs() / plan.axes[0].outputs >= 8 || plan.block[1] * pixels < 128) break;
  }
  if (plan.block[1] < 1) plan.block[1] = 1;
  PlaceImage(plan);
  const int64_t jobs = spec.batch * spec.groups * plan.Jobs();
  plan.filter_parts = std::clamp<int64_t>(CeilDiv(8, jobs), 1, CeilDiv(plan.filters, 28));
}

ConvPlan MakePlan(const ConvSpec& spec, const CpuTarget& target) {
  ConvPlan plan;
  plan.channels = spec.in_channels / spec.groups;
  plan.filters = spec.out_channels / spec.groups;
  for (int i = 0; i < 3; ++i) {
    const int dim = i - (3 - spec.dims);
    if (dim < 0) {
      plan.axes[i].origins = {0};
      plan.axes[i].meets = {{{0, 0}}};
    } else {
      plan.axes[i] = spec.transposed ? TransposedAxis(spec, dim) : ForwardAxis(spec, dim);
    }
    plan.parts *= static_cast<int64_t>(plan.axes[i].origins.size());
  }
  ChooseBlock(spec, target, plan);
  const auto& [d, h, w] = plan.axes;
  for (int64_t fd = 0; fd < d.out_step; ++fd) {
    for (int64_t fh = 0; fh < h.out_step; ++fh) {
      for (int64_t fw = 0; fw < w.out_step; ++fw) {
        plan.phases.push_back({fd, fh, fw});
        std::vector<Tap>& taps = plan.taps.emplace_back();
        for (int64_t k = 0; k < d.kernel * h.kernel * w.kernel; ++k) {
          const auto& [part_d, shift_d] = d.meets[fd][k / (h.kernel * w.kernel)];
          const auto& [part_h, shift_h] = h.meets[fh][k / w.kernel % h.kernel];
          const auto& [part_w, shift_w] = w.meets[fw][k % w.kernel];
          if (part_d < 0 || part_h < 0 || part_w < 0) continue;
          const int64_t part = (part_d * static_cast<int64_t>(h.origins.size()) + part_h) *
                                   static_cast<int64_t>(w.origins.size()) +
                               part_w;
          const int64_t in_part = (shift_d * plan.image[1] + shift_h) * plan.image[2] + shift_w;
          taps.push_back({k, part * plan.PartSize() + in_part});
        }
      }
    }
  }
  return plan;
}

// ---- text

constexpr const char* kHead = R"(
namespace @NAME@_parts {

using Sum = @SUM@;
constexpr int64_t kSamples = @SAMPLES@, kGroups = @GROUPS@;
constexpr int64_t kChannels = @CHANNELS@, kFilters = @FILTERS@;  // of a group: input and output channels
constexpr int64_t kInDepth = @IN_D@, kInHeight = @IN_H@, kInWidth = @IN_W@;
constexpr int64_t kOutDepth = @OUT_D@, kOutHeight = @OUT_H@, kOutWidth = @OUT_W@;

// A job computes kBlockHeight × kBlockWidth outputs (of every phase, when outputs are a stride apart) from an
// image of what they read. Output (h, w) of the block is pixel h * kImageWidth + w.
constexpr int64_t kRowsOfOutputs = @Q_H@, kColsOfOutputs = @Q_W@, kLayersOfOutputs = @Q_D@;
constexpr int64_t kBlockHeight = @BLOCK_H@, kBlockWidth = @BLOCK_W@;
constexpr int64_t kPixels = (kBlockHeight - 1) * @IMAGE_W@ + kBlockWidth;
constexpr int64_t kOutStepD = @STEP_D@, kOutStepH = @STEP_H@, kOutStepW = @STEP_W@;

// The image of a channel: @PARTS@ part(s), one for each phase of the stride that a tap meets.
constexpr int64_t kImageDepth = @IMAGE_D@, kImageHeight = @IMAGE_H@, kImageWidth = @IMAGE_W@;
constexpr int64_t kParts = @PARTS@, kPartSize = kImageDepth * kImageHeight * kImageWidth;
constexpr int64_t kPlane = kParts * kPartSize;
constexpr int64_t kInStepD = @IN_STEP_D@, kInStepH = @IN_STEP_H@, kInStepW = @IN_STEP_W@;
// Input pixel under pixel 0 of each part, for the first block.
constexpr int64_t kOriginD[kParts] = {@ORIGIN_D@};
constexpr int64_t kOriginH[kParts] = {@ORIGIN_H@};
constexpr int64_t kOriginW[kParts] = {@ORIGIN_W@};

// Taps of the kernel, by phase of the output: how many, where each reads in the image.
constexpr int kPhases = @PHASES@, kMostTaps = @MOST_TAPS@;
constexpr int64_t kTaps[kPhases] = {@TAPS@};
constexpr int32_t kOffsets[kPhases][kMostTaps] = {@OFFSETS@};
@PHASE_TABLE@

// A tile of sums is kTileRows output channels by kTilePixels pixels.
constexpr int kVectors = tiles::PixelVectors<Sum>(kFilters, kPixels);
constexpr int64_t kTilePixels = kVectors * tiles::kLanes<Sum>;
constexpr int64_t kTileRows = tiles::TileRows(kFilters, kVectors);
constexpr int64_t kTiles = tiles::CeilDiv(kFilters, kTileRows);
constexpr int64_t kLastRows = kFilters - (kTiles - 1) * kTileRows;
constexpr int64_t kSumsRow = tiles::RoundUp(kPixels, kTilePixels);
// Output channels are shared out among jobs where there are few of these.
constexpr int64_t kFilterParts = @FILTER_PARTS@, kPartTiles = tiles::CeilDiv(kTiles, kFilterParts);

static void CopyImage(@INPUT@, int64_t sample, int64_t group, int64_t layer, int64_t first_row,
                      int64_t first_col, Sum* image) {
  constexpr int64_t in_plane = kInDepth * kInHeight * kInWidth;
  for (int64_t c = 0; c < kChannels; ++c) {
    const auto* channel = input + ((sample * kGroups + group) * kChannels + c) * in_plane;
    for (int64_t part = 0; part < kParts; ++part) {
      const int64_t left = first_col * kInStepW + kOriginW[part];
      // Image pixels [begin, end) of a row lie in the input, the others in its padding.
      const int64_t begin = tiles::Least(kImageWidth, left < 0 ? tiles::CeilDiv(-left, kInStepW) : 0);
      const int64_t inside = left < kInWidth ? tiles::CeilDiv(kInWidth - left, kInStepW) : 0;
      const int64_t end = tiles::Most(begin, tiles::Least(kImageWidth, inside));
      for (int64_t row = 0; row < kImageDepth * kImageHeight; ++row) {
        Sum* to = image + c * kPlane + part * kPartSize + row * kImageWidth;
        const int64_t d = (layer + row / kImageHeight) * kInStepD + kOriginD[part];
        const int64_t h = (first_row + row % kImageHeight) * kInStepH + kOriginH[part];
        if (d < 0 || d >= kInDepth || h < 0 || h >= kInHeight) {
          std::memset(to, 0, kImageWidth * sizeof(Sum));
          continue;
        }
        const auto* from = channel + (d * kInHeight + h) * kInWidth + left;
        for (int64_t w = 0; w < begin; ++w) to[w] = 0;
#pragma omp simd
        for (int64_t w = begin; w < end; ++w) to[w] = @PIXEL@;
        for (int64_t w = end; w < kImageWidth; ++w) to[w] = 0;
      }
    }
  }
}
@WEIGHT@
// Takes a run of finished sums along the width.
static inline void Store(const Sum* sums, int64_t sample, int64_t channel, int64_t od, int64_t oh,
                         int64_t first_ow, int64_t count@DECLARED@) {
  @BEFORE_ROW@
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const int64_t ow = first_ow + i * kOutStepW;
    const int64_t position = (od * kOutHeight + oh) * kOutWidth + ow;
    const Sum value = sums[i];
    @STORE@
  }
}
)";

constexpr const char* kDirectWeight = R"(
// Weights are read as they lie: the terms of an output channel are contiguous, in the order of the loops.
constexpr int64_t kWeightRow = kChannels * kMostTaps;
static inline const Sum* WeightOf(const Sum* weight, int phase, int64_t filter) {
  return weight + filter * kWeightRow;
}
)";

constexpr const char* kPackedWeight = R"(
// Weights are packed for each phase: the terms of an output channel contiguous, in the order of the loops.
constexpr int64_t kKernel = @KERNEL@;
constexpr int64_t kWeightRow = @WEIGHT_ROW@;
constexpr int32_t kTapOfKernel[kPhases][kMostTaps] = {@KERNEL_INDICES@};
static inline const Sum* WeightOf(const Sum* weight, int phase, int64_t filter) {
  return weight + (phase * kGroups * kFilters + filter) * kWeightRow;
}
static void PackWeight(@WEIGHT_POINTER@, int phase, int64_t filter, Sum* packed) {
  Sum* to = packed + (phase * kGroups * kFilters + filter) * kWeightRow;
  const int64_t group = filter / kFilters;
  for (int64_t c = 0; c < kChannels; ++c) {
    for (int64_t t = 0; t < kTaps[phase]; ++t) {
      const int64_t at = @WEIGHT_INDEX@ * kKernel + kTapOfKernel[phase][t];
      *to++ = @WEIGHT_ELEMENT@;
    }
  }
}
)";

constexpr const char* kBody = R"(
static void ConvolveBlock(@INPUT@, const Sum* weight, int64_t sample, int64_t group, int64_t part,
                          int64_t layer, int64_t first_row, int64_t first_col@DECLARED@) {
  // The last tile reads past the last pixel.
  Sum* image = tiles::Scratch<Sum>(0, kChannels * kPlane + kTilePixels);
  Sum* sums = tiles::Scratch<Sum>(1, kTileRows * kSumsRow);
  CopyImage(input, sample, group, layer, first_row, first_col, image);
  const int64_t height = tiles::Least(kBlockHeight, kRowsOfOutputs - first_row);
  const int64_t width = tiles::Least(kBlockWidth, kColsOfOutputs - first_col);
  const int64_t pixels = (height - 1) * kImageWidth + width;
  for (int phase = 0; phase < kPhases; ++phase) {
    for (int64_t tile = part * kPartTiles; tile < tiles::Least(kTiles, (part + 1) * kPartTiles); ++tile) {
      const int64_t filter = group * kFilters + tile * kTileRows;
      const Sum* factors = WeightOf(weight, phase, filter);
      for (int64_t p = 0; p < pixels; p += kTilePixels) {
        if (tile + 1 < kTiles) {
          tiles::ConvolveTile<Sum, kTileRows, kVectors, kWeightRow, kPlane, kSumsRow>(
              kChannels, kTaps[phase], factors, image + p, kOffsets[phase], sums + p);
        } else {
          tiles::ConvolveTile<Sum, kLastRows, kVectors, kWeightRow, kPlane, kSumsRow>(
              kChannels, kTaps[phase], factors, image + p, kOffsets[phase], sums + p);
        }
      }
      const int64_t rows = tile + 1 < kTiles ? kTileRows : kLastRows;
      @OUTPUT_LOOP@
    }
  }
}

}  // namespace @NAME@_parts

static void @NAME@(@INPUT@, @WEIGHT_POINTER@@DECLARED@, int threads) {
  using namespace @NAME@_parts;
  const int team = static_cast<int>(tiles::Least(threads, @MOST_THREADS@));
  constexpr int64_t row_blocks = tiles::CeilDiv(kRowsOfOutputs, kBlockHeight);
  constexpr int64_t col_blocks = tiles::CeilDiv(kColsOfOutputs, kBlockWidth);
  @PACK_WEIGHT@
#pragma omp parallel for num_threads(team) schedule(dynamic, @CHUNK@)
  for (int64_t job = 0;
       job < kSamples * kGroups * kFilterParts * kLayersOfOutputs * row_blocks * col_blocks; ++job) {
    int64_t rest = job;
    const int64_t first_col = rest % col_blocks * kBlockWidth;
    rest /= col_blocks;
    const int64_t first_row = rest % row_blocks * kBlockHeight;
    rest /= row_blocks;
    const int64_t layer = rest % kLayersOfOutputs;
    rest /= kLayersOfOutputs;
    const int64_t part = rest % kFilterParts;
    rest /= kFilterParts;
    ConvolveBlock(input, @USED_WEIGHT@, rest / kGroups, rest % kGroups, part, layer, first_row,
                  first_col@PASSED@);
  }
}
)";

constexpr const char* kPlainOutputs = R"(for (int64_t r = 0; r < rows; ++r) {
  for (int64_t h = 0; h < height; ++h) {
    Store(sums + r * kSumsRow + h * kImageWidth, sample, filter + r, layer, first_row + h, first_col,
          width@PASSED@);
  }
})";

constexpr const char* kPhasedOutputs = R"(const int64_t od = layer * kOutStepD + kPhaseD[phase];
const int64_t first_ow = first_col * kOutStepW + kPhaseW[phase];
if (od >= kOutDepth || first_ow >= kOutWidth) continue;
const int64_t count = tiles::Least(width, tiles::CeilDiv(kOutWidth - first_ow, kOutStepW));
for (int64_t r = 0; r < rows; ++r) {
  for (int64_t h = 0; h < height; ++h) {
    const int64_t oh = (first_row + h) * kOutStepH + kPhaseH[phase];
    if (oh >= kOutHeight) break;
    Store(sums + r * kSumsRow + h * kImageWidth, sample, filter + r, od, oh, first_ow, count@PASSED@);
  }
})";

constexpr const char* kPackCall =
    R"(Sum* packed = tiles::Scratch<Sum>(3, kPhases * kGroups * kFilters * kWeightRow);
#pragma omp parallel for collapse(2) num_threads(team)
for (int phase = 0; phase < kPhases; ++phase) {
  for (int64_t filter = 0; filter < kGroups * kFilters; ++filter) PackWeight(weight, phase, filter, packed);
})";

constexpr const char* kNothingOfConv = R"(
// The convolution has no output.
static void @NAME@(@INPUT@, @WEIGHT_POINTER@@DECLARED@, int threads) {}
)";

template <typename Items, typename Text>
std::string List(const Items& items, const Text& text) {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? "" : ", ") + text(item);
  return list;
}

// The taps' numbers by phase, "{0, 1, 58}, {…}"; `one` tells which number of a tap.
std::string TapTable(const ConvPlan& plan, int64_t Tap::*one) {
  return List(plan.taps, [&](const std::vector<Tap>& taps) {
    return "{" + List(taps, [&](const Tap& tap) { return Number(tap.*one); }) + "}";
  });
}

// Origins of every part of the image along one axis; parts are numbered over the three axes.
std::string Origins(const ConvPlan& plan, int axis) {
  std::vector<int64_t> sizes;
  for (const Axis& each : plan.axes) sizes.push_back(static_cast<int64_t>(each.origins.size()));
  std::vector<int64_t> origins;
  for (int64_t part = 0; part < plan.parts; ++part) {
    const Sizes at = {part / (sizes[1] * sizes[2]), part / sizes[2] % sizes[1], part % sizes[2]};
    origins.push_back(plan.axes[axis].origins[static_cast<size_t>(at[axis])]);
  }
  return List(origins, Number);
}

void SetAxisValues(const ConvPlan& plan, Values& values) {
  const char* names[] = {"_D", "_H", "_W"};
  for (int i = 0; i < 3; ++i) {
    const std::string name = names[i];
    const Axis& axis = plan.axes[i];
    values["IN" + name] = Number(axis.input);
    values["OUT" + name] = Number(axis.output);
    values["Q" + name] = Number(axis.outputs);
    values["BLOCK" + name] = Number(plan.block[i]);
    values["IMAGE" + name] = Number(plan.image[i]);
    values["STEP" + name] = Number(axis.out_step);
    values["IN_STEP" + name] = Number(axis.in_step);
    values["ORIGIN" + name] = Origins(plan, i);
  }
}

void SetTapValues(const ConvPlan& plan, Values& values) {
  size_t most = 1;
  for (const auto& taps : plan.taps) most = std::max(most, taps.size());
  values["PHASES"] = Number(static_cast<int64_t>(plan.phases.size()));
  values["MOST_TAPS"] = Number(static_cast<int64_t>(most));
  values["TAPS"] =
      List(plan.taps, [](const auto& taps) { return Number(static_cast<int64_t>(taps.size())); });
  values["OFFSETS"] = TapTable(plan, &Tap::offset);
  values["KERNEL_INDICES"] = TapTable(plan, &Tap::kernel_index);
  values["PHASE_TABLE"] = "";
  if (plan.phases.size() > 1) {
    const auto phases = [&](int axis) {
      return "[kPhases] = {" +
             List(plan.phases, [&](const Sizes& at) { return Number(at[axis]); }) + "};\n";
    };
    values["PHASE_TABLE"] = "constexpr int64_t kPhaseD" + phases(0) + "constexpr int64_t kPhaseH" +
                            phases(1) + "constexpr int64_t kPhaseW" + phases(2);
  }
}

void SetWeightValues(const ConvSpec& spec, const ConvPlan& plan, Values& values) {
  const int64_t kernel = plan.axes[0].kernel * plan.axes[1].kernel * plan.axes[2].kernel;
  const int64_t terms = plan.channels * std::stoll(values["MOST_TAPS"]);
  const int64_t bytes = static_cast<int64_t>(DTypeBytes(spec.accumulate));
  // Rows a multiple of 4 KiB apart fall into one set of the first-level cache.
  const bool crowded = terms * bytes % 4096 == 0;
  const bool direct = !spec.transposed && spec.dtype == spec.accumulate && !crowded;
  values["KERNEL"] = Number(kernel);
  values["WEIGHT_ROW"] = Number(crowded ? terms + 64 / bytes : terms);
  values["WEIGHT_INDEX"] = spec.transposed
                               ? "((group * kChannels + c) * kFilters + filter % kFilters)"
                               : "(filter * kChannels + c)";
  values["WEIGHT_ELEMENT"] = Converted(spec.dtype, spec.accumulate, "weight[at]");
  values["WEIGHT"] = Fill(direct ? kDirectWeight : kPackedWeight, values);
  values["PACK_WEIGHT"] = direct ? "" : kPackCall;
  values["USED_WEIGHT"] = direct ? "weight" : "packed";
}

OutputSite SiteOf(const ConvSpec& spec, const std::string& value) {
  const std::vector<std::string> all = {"od", "oh", "ow"};
  return {value, "sample", "channel", "position", {all.end() - spec.dims, all.end()}};
}

Values CommonValues(const ConvSpec& spec, const std::string& name, const Epilogue& epilogue) {
  Values values;
  values["NAME"] = name;
  values["SUM"] = ElementType(spec.accumulate);
  values["INPUT"] = PointerType(spec.dtype) + " input";
  values["WEIGHT_POINTER"] = PointerType(spec.dtype) + " weight";
  values["DECLARED"] = DeclaredParameters(epilogue.parameters);
  values["PASSED"] = PassedParameters(epilogue.parameters);
  values["SAMPLES"] = Number(spec.batch);
  values["GROUPS"] = Number(spec.groups);
  values["CHANNELS"] = Number(spec.in_channels / spec.groups);
  values["FILTERS"] = Number(spec.out_channels / spec.groups);
  values["STORE"] = epilogue.store(SiteOf(spec, "value"));
  OutputSite row = SiteOf(spec, "");
  row.col.clear();
  row.position.clear();
  values["BEFORE_ROW"] = epilogue.before_row ? epilogue.before_row(row) : "";
  return values;
}

std::string EmitBlocks(const ConvSpec& spec, Values values, const CpuTarget& target) {
  const ConvPlan plan = MakePlan(spec, target);
  SetAxisValues(plan, values);
  SetTapValues(plan, values);
  SetWeightValues(spec, plan, values);
  values["PARTS"] = Number(plan.parts);
  values["FILTER_PARTS"] = Number(plan.filter_parts);
  values["PIXEL"] = Converted(spec.dtype, spec.accumulate,
                              plan.axes[2].in_step == 1 ? "from[w]" : "from[w * kInStepW]");
  values["OUTPUT_LOOP"] = Fill(plan.phases.size() > 1 ? kPhasedOutputs : kPlainOutputs, values);
  const int64_t jobs = spec.batch * spec.groups * plan.Jobs() * plan.filter_parts;
  values["CHUNK"] = Number(std::max<int64_t>(jobs / 64, 1));
  double work = 2.0 * static_cast<double>(spec.batch * spec.out_channels * plan.channels);
  for (const Axis& axis : plan.axes) work *= static_cast<double>(axis.outputs * axis.kernel);
  values["MOST_THREADS"] = Number(std::clamp<int64_t>(static_cast<int64_t>(work / 5e5), 1, 1024));
  return Fill(std::string(kHead) + kBody, values);
}

// ---- 1×1

bool IsPointwise(const ConvSpec& spec) {
  for (int i = 0; i < spec.dims; ++i) {
    if (spec.kernel[i] != 1 || spec.stride[i] != 1 || spec.padding[i] != 0) return false;
    if (spec.transposed && spec.output_padding[i] != 0) return false;
  }
  return true;
}

Result<std::string> EmitPointwise(const ConvSpec& spec, const std::string& name,
                                  const Epilogue& epilogue, const CpuTarget& target) {
  const std::vector<int64_t> sizes(spec.input.begin(), spec.input.begin() + spec.dims);
  const int64_t pixels = Product(sizes);
  const int64_t channels = spec.in_channels / spec.groups;
  const int64_t filters = spec.out_channels / spec.groups;
  MatmulSpec product;
  product.batch = {spec.batch, spec.groups};
  product.m = filters;
  product.n = pixels;
  product.k = channels;
  product.accumulate = spec.accumulate;
  product.a = {spec.dtype, {0, filters * channels}, channels, 1};
  if (spec.transposed) product.a = {spec.dtype, {0, filters * channels}, 1, filters};
  product.b = {spec.dtype, {spec.in_channels * pixels, channels * pixels}, pixels, 1};
  const auto site = [=, groups = spec.groups](const OutputSite& at) {
    OutputSite mapped = at;
    if (groups > 1) {
      mapped.batch = "(" + at.batch + " / " + Number(groups) + ")";
      mapped.row =
          "(" + at.batch + " % " + Number(groups) + " * " + Number(filters) + " + " + at.row + ")";
    }
    if (!at.col.empty()) mapped.position = Coordinates(sizes, at.col);
    return mapped;
  };
  Epilogue adapted = epilogue;
  adapted.store = [=](const OutputSite& at) { return epilogue.store(site(at)); };
  if (epilogue.before_row) {
    adapted.before_row = [=](const OutputSite& at) { return epilogue.before_row(site(at)); };
  }
  KERF_ASSIGN_OR_RETURN(const std::string text,
                        EmitMatmul(product, name + "_product", adapted, target));
  return text +
         "\n// Without reach the convolution is a product of weights and pixels.\nstatic void " +
         name + "(" + PointerType(spec.dtype) + " input, " + PointerType(spec.dtype) + " weight" +
         DeclaredParameters(epilogue.parameters) + ", int threads) {\n  " + name +
         "_product(weight, input" + PassedParameters(epilogue.parameters) + ", threads);\n}\n";
}

}  // namespace

Status CheckConv(const ConvSpec& spec) {
  const auto refuse = [](const std::string& what) { return InvalidInput("convolution: " + what); };
  if (spec.dims < 1 || spec.dims > 3) return refuse("has one to three spatial dimensions");
  if (!CanBeElement(spec.dtype) || !CanBeAccumulated(spec.accumulate)) {
    return refuse(std::string("none is emitted for ") + DTypeName(spec.dtype) + " with sums in " +
                  DTypeName(spec.accumulate));
  }
  if (spec.groups < 1 || spec.in_channels % spec.groups != 0 ||
      spec.out_channels % spec.groups != 0) {
    return refuse(Number(spec.groups) + " groups do not divide " + Number(spec.in_channels) +
                  " and " + Number(spec.out_channels) + " channels");
  }
  for (int i = 0; i < spec.dims; ++i) {
    if (spec.kernel[i] < 1 || spec.stride[i] < 1 || spec.dilation[i] < 1 || spec.padding[i] < 0) {
      return refuse("kernel, stride and dilation are positive, padding is not negative");
    }
  }
  return {};
}

Result<std::string> EmitConv(const ConvSpec& spec, const std::string& function_name,
                             const Epilogue& epilogue, const CpuTarget& target) {
  KERF_RETURN_IF_ERROR(CheckParameters(epilogue));
  KERF_RETURN_IF_ERROR(CheckConv(spec));
  const Values values = CommonValues(spec, function_name, epilogue);
  int64_t outputs = spec.batch * spec.out_channels;
  for (int i = 0; i < spec.dims; ++i) outputs *= std::max<int64_t>(spec.OutputSize(i), 0);
  if (outputs == 0) return Fill(kNothingOfConv, values);
  if (IsPointwise(spec)) return EmitPointwise(spec, function_name, epilogue, target);
  return EmitBlocks(spec, values, target);
}

}  // namespace kerf::synth

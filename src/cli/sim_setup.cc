#include "cli/sim_setup.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "artifact/core_model.h"
#include "base/cache_dir.h"
#include "base/clock.h"
#include "cli/render/output.h"
#include "cli/replay_setup.h"
#include "loop/conduct/verify_setup.h"
#include "loop/verify/compare.h"
#include "replay/dump/dump_check.h"
#include "replay/dump/dump_reader.h"
#include "replay/dump/dump_select.h"
#include "resource/resource.h"
#include "sim/exec/call_stacks.h"
#include "sim/machine/tile_io.h"

namespace kerf::cli {
namespace {

Result<int> NumberOf(const Args& args, const std::string& flag, int low, int high) {
  const int64_t value = args.GetNumber(flag).value_or(low);
  if (value < low || value > high) {
    return InvalidInput(flag + " takes " + std::to_string(low) + " to " + std::to_string(high));
  }
  return static_cast<int>(value);
}

std::optional<DType> DTypeOf(ArgType type) {
  switch (type) {
    case ArgType::kFloat32:
      return DType::kFloat32;
    case ArgType::kFloat16:
      return DType::kFloat16;
    case ArgType::kBFloat16:
      return DType::kBFloat16;
    case ArgType::kInt32:
      return DType::kInt32;
    case ArgType::kInt16:
      return DType::kInt16;
    case ArgType::kInt8:
      return DType::kInt8;
    case ArgType::kUInt8:
      return DType::kUInt8;
    case ArgType::kInt64:
      return DType::kInt64;
    case ArgType::kUInt64:
      return DType::kUInt64;
    case ArgType::kUInt16:
      return DType::kUInt16;
    case ArgType::kUInt32:
      return DType::kUInt32;
    case ArgType::kBool:
      return DType::kBool;
    case ArgType::kFp8E4M3:
      return DType::kFloat8E4M3;
    default:
      return std::nullopt;
  }
}

// `wanted` holds the view's bytes. Without an oracle the verifier allows what rounding explains.
OutputCheck CompareOutput(const sim::ExecOutput& output, const std::string& wanted) {
  OutputCheck check{output.slot, false, ""};
  const auto dtype = DTypeOf(output.tensor.type);
  if (wanted.size() != output.bytes.size()) {
    check.text = std::to_string(wanted.size()) + " bytes are expected, it has " +
                 std::to_string(output.bytes.size());
    return check;
  }
  if (!dtype) {
    check.right = wanted == output.bytes;
    check.text = check.right ? "identical" : "the bytes differ";
    return check;
  }
  const TensorSpec spec{*dtype, output.tensor.shape};
  verify::Expected expected;
  expected.reference = {spec, wanted.data()};
  const verify::Budget budget = verify::Budget::Make(expected, 1);
  const verify::Comparison comparison =
      verify::Compare({spec, output.bytes.data()}, expected, budget, nullptr, 1);
  check.right = comparison.right();
  check.text = comparison.Summary();
  return check;
}

Result<std::vector<OutputCheck>> CheckAgainstFiles(const Args& args, const sim::ExecResult& run,
                                                   Context& context) {
  std::vector<OutputCheck> checks;
  for (const std::string& text : args.All("--expect")) {
    const size_t equals = text.find('=');
    int slot = -1;
    std::from_chars(text.data(), text.data() + std::min(equals, text.size()), slot);
    const auto output = std::find_if(run.outputs.begin(), run.outputs.end(),
                                     [&](const sim::ExecOutput& one) { return one.slot == slot; });
    if (equals == std::string::npos || slot < 0)
      return InvalidInput("--expect takes SLOT=FILE, not \"" + text + "\"");
    if (output == run.outputs.end()) {
      if (run.outputs.empty()) continue;
      return InvalidInput("--expect " + text + ": slot " + std::to_string(slot) + " is no output");
    }
    KERF_ASSIGN_OR_RETURN(const std::string wanted, context.fs.ReadFile(text.substr(equals + 1)));
    checks.push_back(CompareOutput(*output, wanted));
  }
  return checks;
}

Status CheckAgainstDump(const replay::ReplayRequest& request, const sim::ExecResult& run,
                        Context& context, std::vector<OutputCheck>& checks) {
  KERF_ASSIGN_OR_RETURN(const Dump dump, dump::ReadDump(context.fs, request.dump_dir));
  const dump::DispatchQuery query{request.func_ids, request.dispatch_id, request.task_id};
  KERF_ASSIGN_OR_RETURN(const dump::Selected selected, dump::SelectDispatch(dump, query));
  std::string bytes;
  if (!dump.bin_file.empty()) {
    KERF_ASSIGN_OR_RETURN(bytes, context.fs.ReadFile(dump.bin_file));
  }
  size_t found = 0;
  for (const sim::ExecOutput& output : run.outputs) {
    for (const DumpArg& arg : selected.dispatch->args) {
      if (arg.slot != output.slot || arg.stage != DumpStage::kAfter || arg.bin_size == 0) continue;
      if (const auto why = dump::WhyNoPayload(dump, arg)) {
        return Corrupt(arg.where + ": the output cannot be compared: " + *why);
      }
      checks.push_back(CompareOutput(output, bytes.substr(arg.bin_offset, arg.bin_size)));
      ++found;
    }
  }
  if (found == 0 && !run.outputs.empty()) {
    return InvalidInput("--check-output: " + dump.file + " holds no output after the launch for " +
                        selected.dispatch->ToString());
  }
  return {};
}

// The folders of a checkout of the runtime that hold what kernels include.
Status AddCheckout(const Args& args, const ReplayPlan& plan, sim::KernelBuildOptions& build) {
  const std::string root = AbsolutePath(args.Get("--simpler-root"));
  if (root.empty()) return {};
  const std::string arch = PlatformName(plan.options.platform);
  const std::string runtime = "/src/" + arch + "/runtime/tensormap_and_ringbuffer/";
  size_t found = 0;
  for (const std::string& folder :
       {runtime + "runtime", runtime + "common", std::string("/src/common/task_interface"),
        std::string("/src/common/platform/include"), "/src/" + arch + "/platform/include",
        std::string("/simpler_setup/incore")}) {
    if (!std::filesystem::is_directory(root + folder)) continue;
    build.include_dirs.push_back(root + folder);
    ++found;
  }
  if (found == 0) return InvalidInput("--simpler-root " + root + " is no checkout of the runtime");
  return {};
}

Result<CoreModel> ReadCoreModel(const std::string& chip) {
  const std::string path = "chips/" + chip + ".yaml";
  for (const resource::File& file : resource::Files(path)) {
    if (file.path == path) return ParseCoreModel(std::string(file.bytes));
  }
  return InvalidInput("--chip " + chip + ": there is no such machine description");
}

}  // namespace

std::string ChipOf(Platform platform) {
  return platform == Platform::kA5 ? "ascend950" : "ascend910b1";
}

// By its file, or by its family.
std::string ChipName(const Args& args) {
  const std::string chip = args.Get("--chip");
  const auto platform = ParsePlatform(chip);
  return platform ? ChipOf(*platform) : chip;
}

std::vector<Flag> SimFlags() {
  std::vector<Flag> flags = {
      {.name = "--core",
       .value_name = "T",
       .help = "cores it runs on",
       .choices = {"aic", "aiv", "mix"}},
      {.name = "--func-id", .value_name = "N[,N]", .help = "which kernel of the dump or module"},
      {.name = "--module", .value_name = "M", .help = "a scene test that lists the kernel"},
      {.name = "--case", .value_name = "C", .help = "its case"},
      {.name = "--kernel", .value_name = "NAME", .help = "its kernel, by name"},
      {.name = "--chip",
       .value_name = "NAME",
       .help = "a machine description: ascend910b1, ascend950",
       .default_value = "ascend910b1"},
      {.name = "--blocks",
       .value_name = "N",
       .help = "blocks of the grid; default 1, or the recipe's",
       .number = true},
      {.name = "--spmd-block-num",
       .value_name = "N",
       .help = "block count that the kernel is told",
       .number = true},
      {.name = "--lanes",
       .value_name = "N",
       .help = "vector cores of a block; default 2 where the kernel asks for its lane",
       .number = true},
      {.name = "--lane-register",
       .value_name = "S",
       .help = "get_subblockid() is the lane (on), or 0 (off); default by the kernel",
       .choices = {"on", "off"}},
      {.name = "--include",
       .value_name = "DIR",
       .help = "further headers, searched before kerf's own",
       .repeated = true},
      {.name = "--simpler-root",
       .value_name = "D",
       .help = "a checkout of the runtime, for headers kerf does not have"},
      {.name = "--define",
       .value_name = "N[=V]",
       .help = "a macro for the kernel",
       .repeated = true},
      {.name = "--comm-slot",
       .value_name = "N",
       .help = "slot that gets a communication context of one rank",
       .number = true},
      {.name = "--out",
       .value_name = "DIR",
       .help = "write OPPROF_*/simulator there, for MindStudio Insight and Perfetto"},
      {.name = "--cycle-exact", .help = "one cycle as one nanosecond in what is written"},
      {.name = "--check-output", .help = "compare outputs with what the dump holds"},
      {.name = "--expect",
       .value_name = "S=FILE",
       .help = "compare the output of a slot with these bytes",
       .repeated = true},
      {.name = "--save-outputs", .value_name = "DIR", .help = "write each output as slot<N>.bin"},
      {.name = "--no-log", .help = "record no instructions: results only"},
      {.name = "--timeout",
       .value_name = "S",
       .help = "seconds the kernel may run; default 600",
       .number = true},
      JsonFlag()};
  const std::vector<Flag> arguments = ArgumentFlags();
  flags.insert(flags.begin() + 1, arguments.begin(), arguments.end());
  return flags;
}

Result<replay::ReplayRequest> ParseSimRequest(const Args& args) {
  replay::ReplayRequest request;
  request.module = AbsolutePath(args.Get("--module"));
  request.scene_case = args.Get("--case");
  request.kernel = args.Get("--kernel");
  request.kernel_source =
      request.module.empty() ? AbsolutePath(args.Positional(0)) : args.Positional(0);
  request.core_type = args.Get("--core");
  KERF_RETURN_IF_ERROR(ParseArguments(args, request));
  if (args.Has("--check-output") && request.dump_dir.empty() && args.All("--expect").empty()) {
    return InvalidInput(
        "--check-output compares with a dump; give --dump-dir, or --expect SLOT=FILE");
  }
  KERF_ASSIGN_OR_RETURN(const CoreModel model, ReadCoreModel(ChipName(args)));
  const auto platform = ParsePlatform(model.family);
  if (!platform) return Corrupt("chips/" + model.chip + ".yaml: unknown family " + model.family);
  request.options.platform = *platform;
  request.options.hw_block_num = args.GetNumber("--blocks");
  request.options.spmd_block_num = args.GetNumber("--spmd-block-num");
  return request;
}

Result<sim::ExecOptions> MakeExecOptions(const Args& args, const ReplayPlan& plan,
                                         Context& context) {
  sim::ExecOptions options;
  KERF_ASSIGN_OR_RETURN(options.build.cache_dir, OpenCacheDir());
  KERF_ASSIGN_OR_RETURN(options.build.resources,
                        resource::Extract(context.fs, options.build.cache_dir));
  options.build.platform = plan.options.platform;
  for (const std::string& dir : args.All("--include"))
    options.build.include_dirs.push_back(AbsolutePath(dir));
  KERF_RETURN_IF_ERROR(AddCheckout(args, plan, options.build));
  options.build.defines = args.All("--define");
  options.program = std::filesystem::read_symlink("/proc/self/exe").string();
  options.record = !args.Has("--no-log");
  if (args.GetNumber("--lanes")) {
    KERF_ASSIGN_OR_RETURN(options.lanes, NumberOf(args, "--lanes", 1, 2));
  }
  if (const std::string lane = args.Get("--lane-register"); !lane.empty())
    options.lane_register = lane == "on";
  if (args.GetNumber("--comm-slot")) {
    KERF_ASSIGN_OR_RETURN(options.comm_slot, NumberOf(args, "--comm-slot", 0, 47));
  }
  if (const auto seconds = args.GetNumber("--timeout"))
    options.timeout = std::chrono::seconds(std::clamp<int64_t>(*seconds, 1, 86400));
  return options;
}

Result<std::vector<OutputCheck>> CheckOutputs(const Args& args,
                                              const replay::ReplayRequest& request,
                                              const sim::ExecResult& run, Context& context) {
  KERF_ASSIGN_OR_RETURN(std::vector<OutputCheck> checks, CheckAgainstFiles(args, run, context));
  if (args.Has("--check-output") && !request.dump_dir.empty()) {
    KERF_RETURN_IF_ERROR(CheckAgainstDump(request, run, context, checks));
  }
  return checks;
}

Result<std::optional<sim::SimReport>> AnalyseRun(const AnalyseRequest& request, Context& context) {
  KERF_ASSIGN_OR_RETURN(const CoreModel model, ReadCoreModel(request.chip));
  KERF_ASSIGN_OR_RETURN(sim::InstructionLog log, sim::ReadInstructionLog(request.run.log_path));
  if (log.InstructionCount() == 0) return std::optional<sim::SimReport>();
  const std::string note = sim::ResolveStacks(log, request.run.libraries, request.run.mode);
  if (!note.empty()) context.out.Note("note: " + note);
  sim::OutputOptions options;
  options.parent = request.parent;
  options.stamp = sim::StampOf(context.clock.WallNanos());
  options.kernel = request.plan.kernel.name;
  options.cycle_exact = request.cycle_exact;
  KERF_ASSIGN_OR_RETURN(sim::SimReport report, sim::Analyse(context.fs, log, model, options));
  return std::optional<sim::SimReport>(std::move(report));
}

Status SaveOutputs(const Args& args, const sim::ExecResult& run, Context& context) {
  const std::string folder = args.Get("--save-outputs");
  if (folder.empty()) return {};
  KERF_RETURN_IF_ERROR(context.fs.CreateDirs(folder));
  for (const sim::ExecOutput& output : run.outputs) {
    KERF_RETURN_IF_ERROR(WriteFileAtomic(
        context.fs, JoinPath(folder, "slot" + std::to_string(output.slot) + ".bin"), output.bytes));
  }
  return {};
}

std::string PreviewOutput(const sim::ExecOutput& output) {
  const auto type = static_cast<kerf_pto::Type>(output.tensor.type);
  const size_t size = ArgTypeBytes(output.tensor.type);
  const int64_t count = static_cast<int64_t>(output.bytes.size() / size);
  std::vector<float> values(static_cast<size_t>(count));
  sim::DecodeReals(type, output.bytes.data(), count, values.data());
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  size_t odd = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) {
      ++odd;
      continue;
    }
    low = std::min<double>(low, value);
    high = std::max<double>(high, value);
  }
  std::string text;
  char number[64];
  for (size_t i = 0; i < std::min<size_t>(4, values.size()); ++i) {
    std::snprintf(number, sizeof number, "%.6g ", static_cast<double>(values[i]));
    text += number;
  }
  std::snprintf(number, sizeof number, "… (min %.6g, max %.6g", low, high);
  text += number;
  if (odd != 0) text += ", " + std::to_string(odd) + " not finite";
  return text + ")";
}

}  // namespace kerf::cli

#include "cli/replay_setup.h"

#include <charconv>
#include <filesystem>

#include "base/cache_dir.h"
#include "cli/render/output.h"
#include "resource/resource.h"

namespace kerf::cli {
namespace {

Status ParseOptions(const Args& args, ReplayOptions& options) {
  const auto platform = ParsePlatform(args.Get("--platform"));
  if (!platform) return InvalidInput("Unknown platform family: '" + args.Get("--platform") + "'");
  options.platform = *platform;
  options.soc_version = args.Get("--soc-version");
  options.device = args.GetNumber("--device").value_or(0);
  options.launch_count = args.GetNumber("--launch-count").value_or(1);
  options.hw_block_num = args.GetNumber("--hw-block-num");
  options.spmd_block_num = args.GetNumber("--spmd-block-num");
  options.debug_line = args.Has("--debug-line");
  KERF_ASSIGN_OR_RETURN(options.timeout_minutes, ReplayTimeout(args));
  return {};
}

// A checkout that is named only by the environment may be another than the module's.
std::string ImportRoot(const Args& args, const std::string& module) {
  if (args.Has("--simpler-root")) return AbsolutePath(args.Get("--simpler-root"));
  const std::string root = AbsolutePath(ProcessVariable("REPO_ROOT").value_or(""));
  return !root.empty() && module.rfind(root + "/", 0) == 0 ? root : "";
}

}  // namespace

// --timeout is upstream's name; it meant msprof's minutes and the watchdog's seconds at once.
Result<int64_t> ReplayTimeout(const Args& args) {
  const auto minutes = args.GetNumber("--timeout-minutes");
  const auto timeout = args.GetNumber("--timeout");
  if (minutes && timeout) {
    return InvalidInput(
        "--timeout and --timeout-minutes are the same number, in minutes; give one");
  }
  return minutes.value_or(timeout.value_or(120));
}

std::string AbsolutePath(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

std::vector<Flag> ArgumentFlags() {
  return {
      {.name = "--arg-spec", .value_name = "F", .help = "take the arguments from this JSON"},
      {.name = "--dump-dir",
       .value_name = "D",
       .help = "take the arguments from the dump of a run"},
      {.name = "--dispatch-id",
       .value_name = "N",
       .help = "which dispatch of the dump",
       .number = true},
      {.name = "--task-id", .value_name = "HEX", .help = "which task of the dump"},
      {.name = "--set-arg",
       .value_name = "I=V",
       .help = "set a scalar, or fill an integer tensor",
       .repeated = true},
  };
}

std::vector<Flag> ReplayFlags() {
  std::vector<Flag> flags = {
      {.name = "--case", .value_name = "C", .help = "case of the scene test, or Class::Case"},
      {.name = "--kernel", .value_name = "NAME", .help = "the kernel, by its name"},
      {.name = "--func-id", .value_name = "N[,N]", .help = "the kernel, or a mix, by func ids"},
      {.name = "--kernel-source",
       .value_name = "PATH",
       .help = "the kernel, by its source; needs no module"},
      {.name = "--core-type",
       .value_name = "T",
       .help = "cores of a source without a module",
       .choices = {"aic", "aiv", "mix"}},
      {.name = "--platform",
       .value_name = "P",
       .help = "chip family",
       .default_value = "a2a3",
       .choices = {"a2a3", "a5"}},
      {.name = "--import", .help = "run the module, in the sandbox, instead of reading it"},
      {.name = "--simpler-root",
       .value_name = "D",
       .help = "checkout of the runtime; default $REPO_ROOT"},
      {.name = "--runtime",
       .value_name = "R",
       .help = "refuse a class that runs on another runtime"},
      {.name = "--no-payloads", .help = "replay with zeros, whatever the dump holds"},
      {.name = "--restore-arg",
       .value_name = "SLOT",
       .help = "fail unless this slot has a payload",
       .repeated = true,
       .number = true},
      {.name = "--hw-block-num",
       .value_name = "N",
       .help = "blocks of the grid; default 1, or the recipe's",
       .number = true},
  };
  const std::vector<Flag> arguments = ArgumentFlags();
  flags.insert(flags.end(), arguments.begin(), arguments.end());
  return flags;
}

std::vector<Flag> LaunchFlags() {
  return {
      {.name = "--spmd-block-num",
       .value_name = "N",
       .help = "block count that the kernel is told",
       .number = true},
      {.name = "--soc-version",
       .value_name = "S",
       .help = "simulator's SoC; default the platform's"},
      {.name = "--device",
       .value_name = "N",
       .help = "device id",
       .default_value = "0",
       .number = true},
      {.name = "--launch-count",
       .value_name = "N",
       .help = "launches msprof records",
       .default_value = "1",
       .number = true},
      {.name = "--timeout-minutes",
       .value_name = "N",
       .help = "msprof ends the replay after this; default 120",
       .number = true},
      {.name = "--timeout", .value_name = "N", .help = "the same, in minutes", .number = true},
      {.name = "--debug-line", .help = "build with -g, so that instructions have source lines"},
  };
}

Status ParseArguments(const Args& args, replay::ReplayRequest& request) {
  // Absolute, so that data files it names stay right in a spec that is printed.
  request.arg_spec = AbsolutePath(args.Get("--arg-spec"));
  request.dump_dir = AbsolutePath(args.Get("--dump-dir"));
  request.dispatch_id = args.GetNumber("--dispatch-id");
  request.set_args = args.All("--set-arg");
  if (const std::string ids = args.Get("--func-id"); !ids.empty()) {
    KERF_ASSIGN_OR_RETURN(request.func_ids, replay::ParseFuncIds(ids));
  }
  if (const std::string task = args.Get("--task-id"); !task.empty()) {
    KERF_ASSIGN_OR_RETURN(request.task_id, replay::ParseTask(task));
  }
  return {};
}

Result<replay::ReplayRequest> ParseReplayRequest(const Args& args) {
  replay::ReplayRequest request;
  request.module = AbsolutePath(args.Positional(0));
  request.scene_case = args.Get("--case");
  request.import = args.Has("--import");
  request.import_root = ImportRoot(args, request.module);
  request.runtime = args.Get("--runtime");
  request.kernel = args.Get("--kernel");
  request.kernel_source = args.Get("--kernel-source");
  if (request.module.empty()) request.kernel_source = AbsolutePath(request.kernel_source);
  request.core_type = args.Get("--core-type");
  request.payloads = !args.Has("--no-payloads");
  KERF_RETURN_IF_ERROR(ParseArguments(args, request));
  for (const std::string& slot : args.All("--restore-arg")) {
    int64_t value = 0;
    std::from_chars(slot.data(), slot.data() + slot.size(), value);
    request.restore_args.push_back(value);
  }
  KERF_RETURN_IF_ERROR(ParseOptions(args, request.options));
  return request;
}

Result<replay::ReplayTools> MakeReplayTools(Context& context,
                                            const replay::ReplayRequest& request) {
  replay::ReplayTools tools{.fs = context.fs};
  if (request.module.empty()) return tools;
  KERF_ASSIGN_OR_RETURN(const std::string cache, OpenCacheDir());
  KERF_ASSIGN_OR_RETURN(const std::string resources, resource::Extract(context.fs, cache));
  tools.resources = resources;
  const std::string wanted = ProcessVariable("KERF_PYTHON").value_or("python3");
  const auto python = FindProgram(wanted, ProcessVariable("PATH").value_or(""));
  if (!python) {
    return Unavailable("reading a scene test needs python3 (its standard library only); " + wanted +
                       " is not there. --kernel-source with --arg-spec needs none");
  }
  tools.python = *python;
  return tools;
}

}  // namespace kerf::cli

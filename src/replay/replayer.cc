#include "replay/replayer.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "replay/args/arg_rules.h"
#include "replay/args/arg_spec.h"
#include "replay/args/recipe.h"
#include "replay/dump/dump_args.h"
#include "replay/dump/dump_reader.h"
#include "replay/dump/dump_select.h"
#include "replay/kernel/kernel_builder.h"
#include "replay/scene/scene_module.h"
#include "replay/scene/scene_select.h"

namespace kerf::replay {
namespace {

// The scene, and what was chosen of it; all empty without a module.
struct Chosen {
  Scene scene;
  scene::SceneChoice choice;
  std::vector<SceneIncore> incores;
};

Status CheckRequest(const ReplayRequest& request) {
  const bool source_alone = request.module.empty() && !request.kernel_source.empty();
  // Beside a source of its own, func ids choose from the dump.
  const bool of_dump = source_alone && !request.dump_dir.empty();
  KERF_RETURN_IF_ERROR(scene::CheckSelector(
      {request.kernel, of_dump ? std::set<int64_t>() : request.func_ids, request.kernel_source}));
  if (!source_alone && (request.module.empty() || request.scene_case.empty())) {
    return InvalidInput(
        "simpler backend requires test_module and --case (or --kernel-source with --arg-spec or "
        "--dump-dir)");
  }
  if (!request.arg_spec.empty() && !request.dump_dir.empty()) {
    return InvalidInput("--arg-spec and --dump-dir both give the arguments; give one of them");
  }
  if (source_alone && request.arg_spec.empty() && request.dump_dir.empty()) {
    return InvalidInput("a kernel without a module needs --arg-spec or --dump-dir");
  }
  if (!request.dump_dir.empty() && request.func_ids.empty() && !source_alone) {
    return InvalidInput("--dump-dir needs --func-id: a dump names kernels by their ids");
  }
  if (request.dump_dir.empty() && (request.dispatch_id || request.task_id)) {
    return InvalidInput("--dispatch-id and --task-id choose from a dump; give --dump-dir");
  }
  if (request.dump_dir.empty() && !request.restore_args.empty()) {
    return InvalidInput("--restore-arg takes the payload of a dump; give --dump-dir");
  }
  return {};
}

Status CheckOptions(const ReplayOptions& options) {
  const auto within = [](int64_t value, int64_t most) { return value >= 1 && value <= most; };
  if (!within(options.timeout_minutes, 2880)) {
    return InvalidInput("the time-out is in minutes, 1 to 2880 (msprof's limits), not " +
                        std::to_string(options.timeout_minutes));
  }
  if (!within(options.launch_count, 5000)) return InvalidInput("--launch-count takes 1 to 5000");
  if (options.hw_block_num && !within(*options.hw_block_num, 65535)) {
    return InvalidInput(
        "the number of blocks (--hw-block-num, --blocks of kerf sim) is 1 to 65535");
  }
  if (options.spmd_block_num && !within(*options.spmd_block_num, INT32_MAX)) {
    return InvalidInput("--spmd-block-num takes 1 or more");
  }
  return {};
}

Result<Scene> LoadScene(const ReplayTools& tools, const ReplayRequest& request) {
  if (request.import) {
    return scene::ImportScene(
        {.module = request.module,
         .root = request.import_root.empty() ? ParentPath(request.module) : request.import_root,
         .case_name = request.scene_case,
         .resources = tools.resources});
  }
  return scene::ReadScene(tools.fs,
                          {.module = request.module,
                           .case_name = request.scene_case,
                           .python = tools.python,
                           .script = JoinPath(tools.resources, "python/kerf/scene_reader.py"),
                           .run = tools.run});
}

Result<Chosen> ChooseFromModule(const ReplayTools& tools, const ReplayRequest& request) {
  Chosen chosen;
  KERF_ASSIGN_OR_RETURN(chosen.scene, LoadScene(tools, request));
  KERF_ASSIGN_OR_RETURN(
      chosen.choice, scene::SelectCase(chosen.scene, request.scene_case, request.options.platform,
                                       request.runtime));
  KERF_ASSIGN_OR_RETURN(chosen.incores, scene::SelectIncores(*chosen.choice.scene_class,
                                                             {request.kernel, request.func_ids,
                                                              request.kernel_source}));
  return chosen;
}

std::string Stem(const std::string& path) {
  const std::string name = BaseName(path);
  return name.substr(0, name.rfind('.'));
}

// A source that no module lists.
Result<ReplayKernel> KernelOfSource(FileSystem& fs, const ReplayRequest& request) {
  SceneIncore incore{.name = Stem(request.kernel_source), .source = request.kernel_source};
  if (request.core_type != "mix") {
    incore.core_type = request.core_type;
    return kernel::BuildKernel(fs, {incore}, {});
  }
  SceneIncore other = incore;
  incore.core_type = "aic";
  other.core_type = "aiv";
  return kernel::BuildKernel(fs, {incore, other}, {});
}

Result<KernelArgs> FromSpec(FileSystem& fs, const ReplayRequest& request, ReplayPlan& plan) {
  KERF_ASSIGN_OR_RETURN(const std::string text, fs.ReadFile(request.arg_spec));
  plan.args_source = "arg spec " + request.arg_spec;
  return args::ParseArgSpec(request.arg_spec, ParentPath(request.arg_spec), text);
}

Status CheckRestored(const ReplayRequest& request, const KernelArgs& args,
                     const std::set<int>& given) {
  for (const int64_t slot : request.restore_args) {
    const std::string name = "--restore-arg " + std::to_string(slot) + ": ";
    if (request.options.platform == Platform::kA5) {
      return InvalidInput(name + "payloads of a5 dumps are not trustworthy");
    }
    if (given.count(static_cast<int>(slot)) != 0) {
      return InvalidInput(name + "--set-arg sets the same slot; give one of them");
    }
    const KernelArg* arg = args.Find(static_cast<int>(slot));
    if (arg == nullptr) return InvalidInput(name + "the dispatch has no such slot");
    const TensorArg* tensor = arg->tensor();
    if (tensor == nullptr) return InvalidInput(name + "it is a scalar");
    if (tensor->role == ArgRole::kOutput) return InvalidInput(name + "it is an output");
    if (!tensor->data) return InvalidInput(name + "the dump holds no payload");
  }
  return {};
}

Result<KernelArgs> FromDump(FileSystem& fs, const ReplayRequest& request, ReplayPlan& plan) {
  KERF_ASSIGN_OR_RETURN(const Dump dump, dump::ReadDump(fs, request.dump_dir));
  const dump::DispatchQuery query{request.func_ids, request.dispatch_id, request.task_id};
  KERF_ASSIGN_OR_RETURN(const dump::Selected selected, dump::SelectDispatch(dump, query));
  const bool a5 = request.options.platform == Platform::kA5;
  dump::DumpArgsOptions options{.payloads = request.payloads && !a5};
  for (const std::string& set : request.set_args) {
    KERF_ASSIGN_OR_RETURN(const int slot, args::SetArgSlot(set));
    options.given.insert(slot);
  }
  KERF_ASSIGN_OR_RETURN(KernelArgs args, dump::ArgsFromDump(dump, *selected.dispatch, options));
  KERF_RETURN_IF_ERROR(CheckRestored(request, args, options.given));
  args.notes.insert(args.notes.begin(), selected.notes.begin(), selected.notes.end());
  if (a5 && request.payloads && !dump.bin_file.empty()) {
    args.notes.push_back("payloads of a5 dumps are not trustworthy: all tensors start as zeros");
  }
  plan.dump_file = dump.file;
  plan.dispatch = selected.dispatch->ToString();
  plan.args_source =
      std::string(DumpFormatName(dump.format)) + " " + dump.file + ", " + plan.dispatch;
  return args;
}

// A recipe, else the scene's own arguments; an error that says why neither.
Result<KernelArgs> FromScene(const Chosen& chosen, const ReplayRequest& request, ReplayPlan& plan) {
  const SceneIncore& incore = chosen.incores[0];
  const args::RecipeQuery query{.module_folder = BaseName(ParentPath(chosen.scene.module)),
                                .kernel = incore.name,
                                .source_stem = Stem(incore.source),
                                .params = chosen.choice.scene_case->params,
                                .hw_blocks = request.options.hw_block_num};
  KERF_ASSIGN_OR_RETURN(std::optional<args::RecipeResult> recipe,
                        args::ApplyRecipes(args::BuiltInRecipes(), query));
  if (recipe) {
    plan.args_source = recipe->source;
    plan.dispatches = recipe->dispatches;
    return std::move(recipe->args);
  }
  auto scene_args = args::ArgsFromScene(*chosen.choice.scene_class, incore);
  if (scene_args.ok()) {
    plan.args_source = "generate_args of " + chosen.choice.scene_class->name;
    return scene_args;
  }
  return InvalidInput(
      "No built-in insight trace recipe for this test module; pass --arg-spec (or --dump-dir). The "
      "scene's own arguments do not serve: " +
      scene_args.error().message);
}

Result<KernelArgs> ResolveArgs(FileSystem& fs, const ReplayRequest& request, const Chosen& chosen,
                               ReplayPlan& plan) {
  if (!request.arg_spec.empty()) return FromSpec(fs, request, plan);
  if (!request.dump_dir.empty()) return FromDump(fs, request, plan);
  return FromScene(chosen, request, plan);
}

void SetDispatches(const ReplayOptions& options, ReplayPlan& plan) {
  if (plan.dispatches.empty()) plan.dispatches = {{options.hw_block_num.value_or(1), {}}};
  // A list of dispatches is the recipe's; one dispatch is as large as the user says.
  if (plan.dispatches.size() == 1 && options.hw_block_num) {
    plan.dispatches[0].blocks = *options.hw_block_num;
  }
}

void AddKernelNotes(ReplayPlan& plan) {
  if (plan.kernel.computed_slots()) {
    plan.args.notes.push_back(
        "some slots are computed in the kernel: kerf cannot see whether all "
        "of them are covered");
  }
}

}  // namespace

Result<std::set<int64_t>> ParseFuncIds(const std::string& text) {
  std::set<int64_t> ids;
  const char* at = text.data();
  const char* end = text.data() + text.size();
  for (;;) {
    int64_t id = -1;
    const auto [stop, error] = std::from_chars(at, end, id);
    if (error != std::errc() || id < 0 || (stop != end && *stop != ',')) {
      return InvalidInput("--func-id takes one id or several as 0,1,2, not \"" + text + "\"");
    }
    ids.insert(id);
    if (stop == end) return ids;
    at = stop + 1;
  }
}

Result<uint64_t> ParseTask(const std::string& text) {
  if (const auto id = ParseTaskId(text)) return *id;
  return InvalidInput("--task-id takes up to 16 hex digits, not \"" + text + "\"");
}

Result<ReplayPlan> PlanReplay(const ReplayTools& tools, const ReplayRequest& request) {
  KERF_RETURN_IF_ERROR(CheckRequest(request));
  KERF_RETURN_IF_ERROR(CheckOptions(request.options));
  ReplayPlan plan{.options = request.options};
  Chosen chosen;
  if (request.module.empty()) {
    KERF_ASSIGN_OR_RETURN(plan.kernel, KernelOfSource(tools.fs, request));
  } else {
    KERF_ASSIGN_OR_RETURN(chosen, ChooseFromModule(tools, request));
    plan.module = chosen.scene.module;
    plan.scene_case = request.scene_case;
    KERF_ASSIGN_OR_RETURN(plan.kernel, kernel::BuildKernel(tools.fs, chosen.incores,
                                                           chosen.choice.scene_class->incores));
  }
  KERF_ASSIGN_OR_RETURN(plan.args, ResolveArgs(tools.fs, request, chosen, plan));
  for (const std::string& set : request.set_args) {
    KERF_RETURN_IF_ERROR(args::SetArg(set, plan.args));
  }
  SetDispatches(request.options, plan);
  AddKernelNotes(plan);
  KERF_RETURN_IF_ERROR(args::CheckArgs(tools.fs, plan.args, plan.kernel, request.options.platform,
                                       plan.args_source));
  return plan;
}

}  // namespace kerf::replay

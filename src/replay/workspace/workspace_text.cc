#include "replay/workspace/workspace_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "resource/resource.h"

namespace kerf::workspace {
namespace {

constexpr const char* kTemplates = "templates/replay/";

using Values = std::vector<std::pair<std::string, std::string>>;

std::string Template(const std::string& name) {
  const auto files = resource::Files(kTemplates + name + ".in");
  KERF_CHECK(!files.empty(), "a template of the replay workspace is not embedded");
  return std::string(files[0].bytes);
}

std::string Filled(const std::string& name, const Values& values) {
  std::string text = Template(name);
  for (const auto& [key, value] : values) {
    const std::string mark = "@" + key + "@";
    size_t at = text.find(mark);
    KERF_CHECK(at != std::string::npos, "a template of the replay workspace lacks a mark");
    while (at != std::string::npos) {
      text.replace(at, mark.size(), value);
      at = text.find(mark, at + value.size());
    }
  }
  return text;
}

std::vector<const KernelMember*> MembersOn(const ReplayKernel& kernel, CoreType core) {
  std::vector<const KernelMember*> members;
  for (const KernelMember& member : kernel.members) {
    if (member.core == core) members.push_back(&member);
  }
  return members;
}

const char* Guard(CoreType core) { return core == CoreType::kAic ? "__DAV_CUBE__" : "__DAV_VEC__"; }

// Rows of slots of their own for every lane; otherwise all lanes share one row.
bool HasRows(const ReplayPlan& plan) {
  return plan.kernel.shape == KernelShape::kMix || plan.kernel.needs_context() ||
         plan.dispatches.size() > 1;
}

std::string Prologue(Platform platform) {
  const bool a5 = platform == Platform::kA5;
  const char* scope = a5 ? "::" : "";
  return fmt::format(
      "#ifndef __CCE_AICORE__\n#define __CCE_AICORE__ {}\n#endif\n"
      "#ifndef PTO_NPU_ARCH_{}\n#define PTO_NPU_ARCH_{}\n#endif\n"
      "#ifndef EVENT_ID7\n#define EVENT_ID7 (({}event_t)7)\n#endif\n"
      "#ifndef PIPE_FIX\n#define PIPE_FIX (({}pipe_t)10)\n#endif\n",
      a5 ? 310 : 220, a5 ? "A5" : "A2A3", a5 ? "A5" : "A2A3", scope, scope);
}

// Two vector sources in one file: each gets an entry of its own name.
std::string EntryName(const std::vector<const KernelMember*>& members, size_t index) {
  return members.size() == 1 ? "kernel_entry" : "kernel_entry_lane" + std::to_string(index);
}

std::string Includes(const ReplayKernel& kernel) {
  std::string text;
  for (const CoreType core : {CoreType::kAic, CoreType::kAiv}) {
    const auto members = MembersOn(kernel, core);
    if (members.empty()) continue;
    text += fmt::format("\n#ifdef {}\n#include <cce_aicore_intrinsics.h>\n", Guard(core));
    for (size_t i = 0; i < members.size(); ++i) {
      const std::string name = EntryName(members, i);
      if (members.size() > 1) text += fmt::format("#define kernel_entry {}\n", name);
      text += fmt::format("#include \"{}\"\n", members[i]->source);
      if (members.size() > 1) text += "#undef kernel_entry\n";
    }
    text += fmt::format("#endif  // {}\n", Guard(core));
  }
  return text;
}

std::string RowOf(CoreType core, const std::string& args) {
  if (core == CoreType::kAic) return args + " + get_block_idx() * 50";
  return args + " + (get_block_idx() * get_subblockdim() + get_subblockid()) * 50";
}

std::string Entry(const ReplayPlan& plan) {
  const bool mix = plan.kernel.shape == KernelShape::kMix;
  std::string text =
      mix ? "extern \"C\" __global__ AICORE void replay_entry(__gm__ int64_t* aic_args, __gm__ "
            "int64_t* aiv_args) {\n"
          : "extern \"C\" __global__ AICORE void replay_entry(__gm__ int64_t* args) {\n";
  for (const CoreType core : {CoreType::kAic, CoreType::kAiv}) {
    const auto members = MembersOn(plan.kernel, core);
    if (members.empty()) continue;
    const std::string args = !mix ? "args" : core == CoreType::kAic ? "aic_args" : "aiv_args";
    const std::string row = HasRows(plan) ? RowOf(core, args) : args;
    text += fmt::format("#ifdef {}\n", Guard(core));
    if (members.size() == 1) {
      text += fmt::format("  kernel_entry({});\n", row);
    } else {
      text += fmt::format(
          "  if (get_subblockid() == 0) {{\n    {}({});\n  }} else {{\n    {}({});\n  }}\n",
          EntryName(members, 0), row, EntryName(members, 1), row);
    }
    text += "#endif\n";
  }
  return text + "}";
}

std::string KernelText(const ReplayPlan& plan) {
  return Filled("replay_kernel.cpp", {{"PROLOGUE", Prologue(plan.options.platform)},
                                      {"INCLUDES", Includes(plan.kernel)},
                                      {"ENTRY", Entry(plan)}});
}

std::string LaunchParameters(bool mix) {
  return mix ? "void* aic_args, void* aiv_args, void* stream" : "void* args, void* stream";
}

std::string LaunchText(const ReplayPlan& plan) {
  const bool mix = plan.kernel.shape == KernelShape::kMix;
  return Filled(
      "replay_launch.cpp",
      {{"HW_BLOCK_NUM", std::to_string(HwBlocks(plan))},
       {"ENTRY_PARAMETERS",
        mix ? "__gm__ int64_t* aic_args, __gm__ int64_t* aiv_args" : "__gm__ int64_t* args"},
       {"LAUNCH_PARAMETERS", LaunchParameters(mix)},
       {"LAUNCH_CALL",
        mix ? "  replay_entry<<<kHwBlockNum, nullptr, stream>>>((__gm__ int64_t*)aic_args,\n"
              "                                                 (__gm__ int64_t*)aiv_args);"
            : "  replay_entry<<<kHwBlockNum, nullptr, stream>>>((__gm__ int64_t*)args);"}});
}

std::string FiveOf(const std::vector<int64_t>& values) {
  std::string text = "{";
  for (size_t i = 0; i < kArgRank; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(i < values.size() ? values[i] : 0);
  }
  return text + "}";
}

std::string TensorLine(const KernelArg& arg, const TensorArg& tensor) {
  const uint64_t extent = static_cast<uint64_t>(tensor.buffer_elements() - tensor.start_offset);
  const std::string payload =
      tensor.data ? fmt::format("\"slot_{:02}.bin\"", arg.slot) : std::string("nullptr");
  return fmt::format(
      "    // slot {}: {}, {}\n    {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {:#x}, {}, {}}},\n",
      arg.slot, DescribeTensor(tensor), ArgRoleName(tensor.role), arg.slot,
      static_cast<int>(tensor.type), tensor.shape.size(), FiveOf(tensor.shape),
      FiveOf(tensor.strides), tensor.start_offset, extent, tensor.contiguous() ? "true" : "false",
      tensor.buffer_bytes(), tensor.fill_bits, ArgTypeBytes(tensor.type), payload);
}

std::string ScalarLine(const KernelArg& arg, const ScalarArg& scalar) {
  return fmt::format("    // slot {}: {}\n    {{{}, {:#x}}},\n", arg.slot, ArgTypeName(scalar.type),
                     arg.slot, scalar.bits);
}

std::string DispatchLine(const SpmdDispatch& dispatch) {
  std::string overrides;
  for (const auto& [slot, bits] : dispatch.overrides) {
    overrides += fmt::format("{}{{{}, {:#x}}}", overrides.empty() ? "" : ", ", slot, bits);
  }
  return fmt::format("    {{{}, {{{}}}}},\n", dispatch.blocks, overrides);
}

std::string LaunchCall(const ReplayPlan& plan) {
  switch (plan.kernel.shape) {
    case KernelShape::kAic:
      return "  launch_replay(Rows(common, 1), stream);";
    case KernelShape::kAiv:
      return "  launch_replay(Rows(common, 2), stream);";
    case KernelShape::kMix:
      break;
  }
  return "  launch_replay(Rows(common, 1), Rows(common, 2), stream);";
}

std::string HostText(const ReplayPlan& plan) {
  std::string tensors;
  std::string scalars;
  std::string dispatches;
  for (const KernelArg& arg : plan.args.args) {
    if (const TensorArg* tensor = arg.tensor()) tensors += TensorLine(arg, *tensor);
    if (const ScalarArg* scalar = arg.scalar()) scalars += ScalarLine(arg, *scalar);
  }
  for (const SpmdDispatch& dispatch : plan.dispatches) dispatches += DispatchLine(dispatch);
  const std::string blocks = plan.options.spmd_block_num
                                 ? std::to_string(*plan.options.spmd_block_num)
                                 : "dispatch.blocks";
  return Filled("replay_host.cpp",
                {{"LAUNCH_PARAMETERS", LaunchParameters(plan.kernel.shape == KernelShape::kMix)},
                 {"TENSORS", tensors},
                 {"SCALARS", scalars},
                 {"DISPATCHES", dispatches},
                 {"BLOCK_NUM", blocks},
                 {"LAUNCH", LaunchCall(plan)}});
}

// $NAME and ${NAME} become CMake's $ENV{NAME}.
std::string CMakePath(const std::string& path) {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '$') {
      text += path[i];
      continue;
    }
    const bool braces = i + 1 < path.size() && path[i + 1] == '{';
    size_t end = i + (braces ? 2 : 1);
    const size_t begin = end;
    while (end < path.size() &&
           (std::isalnum(static_cast<unsigned char>(path[end])) != 0 || path[end] == '_'))
      ++end;
    text += "$ENV{" + path.substr(begin, end - begin) + "}";
    i = braces ? end : end - 1;
  }
  return text;
}

std::string ExtraIncludes(const ReplayKernel& kernel) {
  std::vector<std::string> dirs;
  for (const KernelMember& member : kernel.members) {
    for (const std::string& dir : member.include_dirs) {
      if (std::find(dirs.begin(), dirs.end(), dir) == dirs.end()) dirs.push_back(dir);
    }
  }
  std::string text;
  for (const std::string& dir : dirs) text += "\n  \"" + CMakePath(dir) + "\"";
  return text;
}

std::string SocVersion(const ReplayOptions& options) {
  return options.soc_version.empty() ? DefaultSocVersion(options.platform) : options.soc_version;
}

std::string CMakeText(const ReplayPlan& plan) {
  const ReplayOptions& options = plan.options;
  return Filled("CMakeLists.txt", {{"SOC_VERSION", SocVersion(options)},
                                   {"AICORE_ARCH", AicoreArch(options.platform)},
                                   {"DEBUG_OPTIONS", options.debug_line ? "-g " : ""},
                                   {"STRIP_OPTION", options.debug_line ? "" : " -s"},
                                   {"PLATFORM", PlatformName(options.platform)},
                                   {"EXTRA_INCLUDES", ExtraIncludes(plan.kernel)}});
}

std::string ScriptText(const ReplayPlan& plan) {
  const ReplayOptions& options = plan.options;
  return Filled("run_collect.sh", {{"SOC_VERSION", SocVersion(options)},
                                   {"TIMEOUT_MINUTES", std::to_string(options.timeout_minutes)},
                                   {"DEVICE", std::to_string(options.device)},
                                   {"KERNEL_NAME", "replay_entry"},
                                   {"LAUNCH_COUNT", std::to_string(options.launch_count)}});
}

bool IsVariable(const std::string& path, size_t at) {
  const size_t name = at + (at + 1 < path.size() && path[at + 1] == '{' ? 2 : 1);
  return name < path.size() &&
         (std::isalpha(static_cast<unsigned char>(path[name])) != 0 || path[name] == '_');
}

Status CheckPaths(const ReplayPlan& plan) {
  for (const KernelMember& member : plan.kernel.members) {
    if (const auto why = WrongPath(member.source)) {
      return InvalidInput("kernel source " + member.source + ": " + *why);
    }
    if (member.source.find('$') != std::string::npos) {
      return InvalidInput("kernel source " + member.source + ": holds '$'; copy it elsewhere");
    }
    for (const std::string& dir : member.include_dirs) {
      if (const auto why = WrongPath(dir))
        return InvalidInput("include folder " + dir + ": " + *why);
    }
  }
  const std::string& soc = plan.options.soc_version;
  const bool plain = std::all_of(soc.begin(), soc.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (!plain)
    return InvalidInput("--soc-version " + soc + " may hold letters, digits, _ and - only");
  return {};
}

}  // namespace

std::optional<std::string> WrongPath(const std::string& path) {
  for (size_t i = 0; i < path.size(); ++i) {
    const auto c = static_cast<unsigned char>(path[i]);
    const bool forbidden =
        c < 0x20 || c == 0x7f || std::string("\"\\;<>`@").find(path[i]) != std::string::npos;
    if (forbidden || (c == '$' && !IsVariable(path, i))) {
      return fmt::format(
          "holds a character ({:#04x}) that C++, CMake or bash would not read as part of a path; "
          "copy it elsewhere",
          c);
    }
  }
  return std::nullopt;
}

int64_t HwBlocks(const ReplayPlan& plan) {
  return std::accumulate(plan.dispatches.begin(), plan.dispatches.end(), int64_t{0},
                         [](int64_t sum, const SpmdDispatch& one) { return sum + one.blocks; });
}

Result<std::vector<WorkspaceFile>> WorkspaceTexts(const ReplayPlan& plan) {
  KERF_CHECK(!plan.dispatches.empty(), "a replay has at least one dispatch");
  KERF_RETURN_IF_ERROR(CheckPaths(plan));
  return std::vector<WorkspaceFile>{{"replay_kernel.cpp", KernelText(plan)},
                                    {"replay_launch.cpp", LaunchText(plan)},
                                    {"replay_host.cpp", HostText(plan)},
                                    {"CMakeLists.txt", CMakeText(plan)},
                                    {"run_collect.sh", ScriptText(plan), true}};
}

}  // namespace kerf::workspace

#include <fmt/core.h>

#include "artifact/scalar_bits.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "replay/workspace/workspace_text.h"

namespace kerf::workspace {
namespace {

void WriteKernel(const ReplayKernel& kernel, JsonWriter& json) {
  json.Key("kernel").BeginObject();
  json.Key("name").String(kernel.name).Key("shape").String(KernelShapeName(kernel.shape));
  json.Key("members").BeginArray();
  for (const KernelMember& member : kernel.members) {
    json.BeginObject().Key("name").String(member.name);
    json.Key("core_type").String(CoreTypeName(member.core));
    if (member.func_id) json.Key("func_id").Int(*member.func_id);
    json.Key("source").String(member.source).Key("sha256").String(member.sha256).EndObject();
  }
  json.EndArray().Key("slots_read").BeginArray();
  for (const int slot : kernel.slots_read()) json.Int(slot);
  json.EndArray().Key("computed_slots").Bool(kernel.computed_slots());
  json.Key("needs_context").Bool(kernel.needs_context()).EndObject();
}

void WriteReplay(const ReplayPlan& plan, JsonWriter& json) {
  const ReplayOptions& options = plan.options;
  const std::string soc =
      options.soc_version.empty() ? DefaultSocVersion(options.platform) : options.soc_version;
  json.Key("replay").BeginObject();
  json.Key("platform").String(PlatformName(options.platform));
  json.Key("soc_version").String(soc).Key("hw_block_num").Int(HwBlocks(plan));
  json.Key("timeout_minutes").Int(options.timeout_minutes);
  json.Key("launch_count").Int(options.launch_count).Key("device").Int(options.device);
  json.Key("debug_line").Bool(options.debug_line).Key("dispatches").BeginArray();
  for (const SpmdDispatch& dispatch : plan.dispatches) {
    json.BeginObject().Key("blocks").Int(dispatch.blocks).Key("overrides").BeginArray();
    for (const auto& [slot, bits] : dispatch.overrides) {
      json.BeginObject().Key("index").Int(slot);
      json.Key("bits").String(fmt::format("{:#x}", bits)).EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
}

void WriteArg(const KernelArg& arg, JsonWriter& json) {
  json.BeginObject().Key("index").Int(arg.slot).Key("name").String(arg.name);
  json.Key("kind").String(arg.tensor() != nullptr ? "tensor" : "scalar");
  if (const TensorArg* tensor = arg.tensor()) {
    json.Key("dtype")
        .String(ArgTypeName(tensor->type))
        .Key("role")
        .String(ArgRoleName(tensor->role));
    json.Key("shape").BeginArray();
    for (const int64_t extent : tensor->shape) json.Int(extent);
    json.EndArray().Key("buffer_bytes").Raw(std::to_string(tensor->buffer_bytes()));
    if (tensor->data) json.Key("payload").String(fmt::format("payload/slot_{:02}.bin", arg.slot));
  } else {
    json.Key("dtype").String(ArgTypeName(arg.scalar()->type));
    json.Key("value").String(ScalarText(*arg.scalar()));
    json.Key("bits").String(fmt::format("{:#x}", arg.scalar()->bits));
  }
  json.Key("origin").String(arg.origin).EndObject();
}

// One member of the top level and one element of `args` per line: people read it.
std::string WithLines(const std::string& json) {
  std::string text;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    text += c;
    if (quoted) {
      if (c == '\\') text += json[++i];
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',' && depth <= 2) text += "\n" + std::string(static_cast<size_t>(depth), ' ');
  }
  return text + "\n";
}

}  // namespace

std::string WorkspaceManifest(const ReplayPlan& plan, const std::vector<WorkspaceFile>& files) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject()
      .Key("format")
      .String("kerf replay workspace 1")
      .Key("backend")
      .String("simpler");
  json.Key("test_module").String(plan.module).Key("case").String(plan.scene_case);
  WriteKernel(plan.kernel, json);
  WriteReplay(plan, json);
  json.Key("args_source").String(plan.args_source);
  if (!plan.dump_file.empty()) {
    json.Key("dump").BeginObject().Key("file").String(plan.dump_file);
    json.Key("dispatch").String(plan.dispatch).EndObject();
  }
  json.Key("args").BeginArray();
  for (const KernelArg& arg : plan.args.args) WriteArg(arg, json);
  json.EndArray().Key("notes").BeginArray();
  for (const std::string& note : plan.args.notes) json.String(note);
  json.EndArray().Key("files").BeginArray();
  for (const WorkspaceFile& file : files) {
    json.BeginObject().Key("path").String(file.path);
    json.Key("sha256").String(Sha256Hex(file.bytes)).EndObject();
  }
  json.EndArray().EndObject();
  return WithLines(text);
}

}  // namespace kerf::workspace

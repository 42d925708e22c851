#include "replay/workspace/workspace_writer.h"

#include <fmt/core.h>

#include <cctype>
#include <cstring>

#include "base/clock.h"
#include "replay/workspace/workspace_text.h"

namespace kerf::workspace {
namespace {

constexpr int kPrivateFolder = 0700;  // msprof refuses folders that others can write to

// Row-major element k of the view lies at start_offset + Σ coordinate · stride.
void Scatter(const TensorArg& tensor, const std::string& view, std::string& buffer) {
  const size_t size = ArgTypeBytes(tensor.type);
  std::vector<int64_t> at(tensor.shape.size(), 0);
  for (int64_t k = 0; k < tensor.numel(); ++k) {
    int64_t element = tensor.start_offset;
    for (size_t i = 0; i < at.size(); ++i) element += at[i] * tensor.strides[i];
    std::memcpy(buffer.data() + static_cast<size_t>(element) * size,
                view.data() + static_cast<size_t>(k) * size, size);
    for (size_t i = at.size(); i-- > 0 && ++at[i] == tensor.shape[i];) at[i] = 0;
  }
}

Status RequireEmpty(FileSystem& fs, const std::string& dir) {
  KERF_ASSIGN_OR_RETURN(const std::optional<FileInfo> info, fs.Stat(dir));
  if (!info) return {};
  if (info->kind != FileKind::kDirectory) return InvalidInput(dir + " is there and no folder");
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(dir));
  if (entries.empty()) return {};
  return InvalidInput(dir + " is not empty; a replay wants a folder of its own (--output-dir)");
}

std::string Plain(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool keep = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    text += keep ? c : '_';
  }
  return text.empty() ? "none" : text.substr(0, 80);
}

}  // namespace

Result<std::string> BufferBytes(FileSystem& fs, const KernelArg& arg) {
  const TensorArg& tensor = *arg.tensor();
  const ArgData& data = *tensor.data;
  KERF_ASSIGN_OR_RETURN(std::string view, fs.ReadRange(data.file, data.offset, data.size));
  if (view.size() != tensor.view_bytes()) {
    return Corrupt("slot " + std::to_string(arg.slot) + ": " + data.file + " gave " +
                   std::to_string(view.size()) + " of " + std::to_string(tensor.view_bytes()) +
                   " bytes");
  }
  if (tensor.contiguous() && tensor.start_offset == 0) return view;
  std::string buffer(tensor.buffer_bytes(), '\0');
  Scatter(tensor, view, buffer);
  return buffer;
}

Status WriteWorkspace(FileSystem& fs, const ReplayPlan& plan, const std::string& dir) {
  KERF_ASSIGN_OR_RETURN(const std::vector<WorkspaceFile> files, WorkspaceTexts(plan));
  KERF_RETURN_IF_ERROR(RequireEmpty(fs, dir));
  KERF_RETURN_IF_ERROR(fs.CreateDirs(dir));
  KERF_RETURN_IF_ERROR(fs.SetMode(dir, kPrivateFolder));
  for (const WorkspaceFile& file : files) {
    const std::string path = JoinPath(dir, file.path);
    KERF_RETURN_IF_ERROR(WriteFileAtomic(fs, path, file.bytes));
    if (file.executable) KERF_RETURN_IF_ERROR(fs.SetMode(path, 0755));
  }
  for (const KernelArg& arg : plan.args.args) {
    if (arg.tensor() == nullptr || !arg.tensor()->data) continue;
    KERF_RETURN_IF_ERROR(fs.CreateDirs(JoinPath(dir, "payload")));
    KERF_ASSIGN_OR_RETURN(const std::string bytes, BufferBytes(fs, arg));
    KERF_RETURN_IF_ERROR(
        WriteFileAtomic(fs, JoinPath(dir, fmt::format("payload/slot_{:02}.bin", arg.slot)), bytes));
  }
  return WriteFileAtomic(fs, JoinPath(dir, "workspace.json"), WorkspaceManifest(plan, files));
}

std::string DefaultWorkspaceName(const std::string& scene_case, const std::string& kernel,
                                 int64_t wall_nanos) {
  std::string stamp;
  for (const char c : FormatUtc(wall_nanos).substr(0, 19)) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) stamp += c;
    if (c == 'T') stamp += '_';
  }
  return "insight_trace_" + Plain(scene_case) + "_" + Plain(kernel) + "_" + stamp;
}

}  // namespace kerf::workspace

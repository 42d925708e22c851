// A task file: a framework module with `Model`, `get_inputs`, `get_init_inputs` and, for dynamic
// shapes, `get_inputs_dyn_list`, as AIKG and KernelBench write them.
//
// kerf reads it as text: what it defines and imports is found without running it. Whether it runs
// is for MakeReference() (reference_maker.h) to find out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"

namespace kerf::task {

enum class Framework { kTorch, kNumpy, kMindspore };
inline constexpr Framework kFrameworks[] = {Framework::kTorch, Framework::kNumpy,
                                            Framework::kMindspore};

const char* FrameworkName(Framework framework);  // "torch", "numpy", "mindspore"
std::optional<Framework> ParseFramework(std::string_view name);

struct TaskFile {
  std::string path;
  std::string text;
  std::string sha256;  // of the text
  std::string op_name;
  Framework framework = Framework::kTorch;
  bool dynamic = false;  // it has get_inputs_dyn_list

  // "relu_torch.py": what it is called where it runs, whatever its own name is.
  [[nodiscard]] std::string ModuleName() const;
};

// `framework` overrides what the imports say. kInvalidInput with AIKG's words when a part is
// missing.
Result<TaskFile> ReadTaskFile(FileSystem& fs, const std::string& path,
                              std::optional<Framework> framework = std::nullopt);

// The same for a text that has been read already.
Result<TaskFile> MakeTaskFile(const std::string& path, std::string text,
                              std::optional<Framework> framework = std::nullopt);

// "relu_torch.py" → relu; "19_ReLU.py" → ReLU: without folder, suffix, framework and leading
// number, and a valid part of a Python name.
std::string OpName(const std::string& path);

// Python source with comments and the insides of strings replaced by spaces; lines stay where they
// are.
std::string MaskPython(std::string_view text);

}  // namespace kerf::task

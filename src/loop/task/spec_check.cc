#include "loop/task/spec_check.h"

#include <algorithm>

namespace kerf::task {
namespace {

struct FrameworkRow {
  const char* framework;
  std::vector<std::string> backends;
};

const std::vector<FrameworkRow>& Frameworks() {
  static const std::vector<FrameworkRow> rows = {
      {"mindspore", {"ascend", "cpu"}},
      {"torch", {"ascend", "cuda", "cpu"}},
      {"numpy", {"ascend", "cuda", "cpu"}},
  };
  return rows;
}

struct ArchRow {
  const char* backend;
  std::vector<std::string> archs;
  std::vector<Impl> impls;
};

const std::vector<ArchRow>& Archs() {
  // On a CPU, CUDA C and HIP run emulated and Triton in its interpreter.
  static const std::vector<ArchRow> rows = {
      {"cpu",
       {"x86_64", "aarch64"},
       {Impl::kCpp, Impl::kCudaC, Impl::kHip, Impl::kTriton, Impl::kTorchExt}},
      {"cuda",
       {"a100", "v100", "h100", "h200", "h20", "h800", "a800", "b200", "l4", "l20", "l40s", "a10",
        "t4", "rtx3090", "rtx4090"},
       {Impl::kCudaC, Impl::kHip, Impl::kTriton, Impl::kTorchExt}},
      {"ascend",
       {"ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4", "ascend910_9391",
        "ascend910_9392", "ascend950"},
       {Impl::kTriton}},
      {"ascend", {"ascend310p3"}, {Impl::kSwft}},
  };
  return rows;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool Contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::vector<std::string> ArchsOf(const std::string& backend) {
  std::vector<std::string> archs;
  for (const ArchRow& row : Archs()) {
    if (row.backend == backend) archs.insert(archs.end(), row.archs.begin(), row.archs.end());
  }
  return archs;
}

std::vector<Impl> ImplsOf(const std::string& backend, const std::string& arch) {
  for (const ArchRow& row : Archs()) {
    if (row.backend == backend && Contains(row.archs, arch)) return row.impls;
  }
  return {};
}

Status CheckTaskSpec(const TaskSpec& spec) {
  const auto framework =
      std::find_if(Frameworks().begin(), Frameworks().end(),
                   [&](const FrameworkRow& row) { return row.framework == spec.framework; });
  if (framework == Frameworks().end()) {
    return InvalidInput("Unsupported framework: " + spec.framework +
                        " (there are mindspore, torch, numpy)");
  }
  if (ArchsOf(spec.backend).empty()) return InvalidInput("backend must be ascend, cuda or cpu");
  if (!Contains(framework->backends, spec.backend)) {
    return InvalidInput("Framework " + spec.framework + " does not support backend: " +
                        spec.backend + " (it supports " + Join(framework->backends) + ")");
  }
  const std::vector<Impl> impls = ImplsOf(spec.backend, spec.arch);
  if (impls.empty()) {
    return InvalidInput("Backend " + spec.backend + " does not support arch: " + spec.arch +
                        " (it supports " + Join(ArchsOf(spec.backend)) + ")");
  }
  if (std::find(impls.begin(), impls.end(), spec.impl) == impls.end()) {
    std::vector<std::string> names;
    for (const Impl impl : impls) names.emplace_back(ImplName(impl));
    return InvalidInput("Arch " + spec.arch + " does not support impl_type: " +
                        ImplName(spec.impl) + " (it supports " + Join(names) + ")");
  }
  if (spec.task_type != "precision_only" && spec.task_type != "profile") {
    return InvalidInput("task_type must be precision_only or profile");
  }
  if (spec.limit_steps < 1) return InvalidInput("limit_steps must be 1 or more");
  if (spec.op_name.empty()) return InvalidInput("op_name must not be empty");
  if (spec.task_id.empty()) return InvalidInput("task_id must not be empty");
  return {};
}

}  // namespace kerf::task

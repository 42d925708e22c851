#include "cli/run_request.h"

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "base/cache_dir.h"
#include "device/probe.h"
#include "loop/task/spec_check.h"
#include "loop/task/task_file.h"

namespace kerf::cli {
namespace {

std::string CpuArch() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "x86_64";
}

bool LooksLikeSentence(FileSystem& fs, const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos || text.find(' ', first) == std::string::npos) return false;
  const auto info = fs.Stat(text);
  return !info.ok() || !info->has_value();
}

struct TaskPath {
  std::string path;
  bool found = false;  // in a folder, not named
};

Result<std::vector<TaskPath>> TaskPaths(const std::vector<std::string>& words, FileSystem& fs,
                                        std::vector<std::string>& ignored) {
  std::vector<TaskPath> paths;
  for (const std::string& word : words) {
    KERF_ASSIGN_OR_RETURN(const auto info, fs.Stat(word));
    if (!info.has_value() || info->kind != FileKind::kDirectory) {
      paths.push_back({word});
      continue;
    }
    KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(word));
    std::vector<std::string> found;
    for (const DirEntry& entry : entries) {
      const std::string path = JoinPath(word, entry.name);
      if (entry.kind == FileKind::kDirectory || !entry.name.ends_with(".py")) continue;
      // Helpers and tests lie beside tasks; only what defines a Model is one.
      const Result<std::string> text = fs.ReadFile(path);
      if (text.ok() && text->find("class Model") == std::string::npos) {
        ignored.push_back(path);
      } else {
        found.push_back(path);
      }
    }
    if (found.empty()) return NotFound(word + " holds no task file (*.py with a class Model)");
    std::sort(found.begin(), found.end());
    for (std::string& path : found) paths.push_back({std::move(path), true});
  }
  return paths;
}

// The user may name a task by a link to it; what kerf finds by itself it does not follow.
std::string Resolved(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

Result<TaskSpec> OneSpec(const Args& args, const Config& config, FileSystem& fs,
                         const std::string& word) {
  TaskSpec spec;
  if (LooksLikeSentence(fs, word)) {
    spec.task_desc = word;
    spec.op_name = "kernel";
    spec.framework = "torch";
  } else {
    KERF_ASSIGN_OR_RETURN(
        task::TaskFile file,
        task::ReadTaskFile(fs, Resolved(word), task::ParseFramework(args.Get("--framework"))));
    spec.task_desc = std::move(file.text);
    spec.op_name = task::OpName(word);
    spec.framework = task::FrameworkName(file.framework);
  }
  if (args.Has("--framework")) spec.framework = args.Get("--framework");
  if (args.Has("--op-name")) spec.op_name = args.Get("--op-name");
  if (args.Has("--task-id")) spec.task_id = args.Get("--task-id");
  spec.task_type = config.task_type;
  spec.limit_steps = config.limit_steps;
  return spec;
}

Status FillIn(const Args& args, const RunMachine& machine, TaskSpec& spec) {
  spec.backend = machine.backend;
  spec.arch = args.Has("--arch") ? args.Get("--arch") : machine.arch;
  spec.impl = DefaultImpl(spec.backend, spec.arch);
  if (args.Has("--impl")) {
    const std::optional<Impl> impl = ParseImpl(args.Get("--impl"));
    if (!impl.has_value()) return InvalidInput("unknown --impl " + args.Get("--impl"));
    spec.impl = *impl;
  }
  KERF_RETURN_IF_ERROR(task::CheckTaskSpec(spec));
  // It names files that compilers and people are given.
  if (spec.op_name.starts_with('-')) {
    return InvalidInput("--op-name " + spec.op_name + " begins with '-'; give it another name");
  }
  if (spec.backend == "cpu" && spec.arch != machine.arch) {
    return InvalidInput("this machine is " + machine.arch + ": a kernel for " + spec.arch +
                        " cannot be judged here");
  }
  return {};
}

}  // namespace

Impl DefaultImpl(const std::string& backend, const std::string& arch) {
  if (backend == "cpu") return Impl::kCpp;
  const std::vector<Impl> impls = task::ImplsOf(backend, arch);
  return impls.empty() ? Impl::kTriton : impls.front();
}

bool IsSentence(const TaskSpec& spec) {
  return spec.task_desc.find("class Model") == std::string::npos;
}

Result<Config> RunConfig(const Args& args, FileSystem& fs) {
  const auto variable = [](const char* name) { return ProcessVariable(name).value_or(""); };
  KERF_ASSIGN_OR_RETURN(Config config, LoadConfig(fs, args.Get("--config"), variable));
  const auto take = [&](const char* flag, const char* key, std::string& into) {
    if (!args.Has(flag)) return;
    into = args.Get(flag);
    config.origins[key] = std::string("flag ") + flag;
  };
  take("--model", "model", config.model);
  take("--task-type", "task_type", config.task_type);
  take("--prompts", "prompts", config.prompts);
  take("--first", "first", config.first);
  const auto count = [&](const char* flag, const char* key, int64_t& into) {
    if (!args.GetNumber(flag).has_value()) return;
    into = *args.GetNumber(flag);
    config.origins[key] = std::string("flag ") + flag;
  };
  count("--limit-steps", "limit_steps", config.limit_steps);
  count("--jobs", "jobs", config.jobs);
  if (args.GetNumber("--max-tokens-total").has_value()) {
    config.max_tokens_total = args.GetNumber("--max-tokens-total");
    config.origins["max_tokens_total"] = "flag --max-tokens-total";
  }
  if (args.Has("--max-cost")) {
    const std::string text = args.Get("--max-cost");
    double dollars = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dollars);
    if (error != std::errc() || end != text.data() + text.size() || !(dollars >= 0)) {
      return InvalidInput("--max-cost takes dollars, such as 2.50, not '" + text + "'");
    }
    config.max_cost = dollars;
    config.origins["max_cost"] = "flag --max-cost";
  }
  return config;
}

Result<RunMachine> FindRunMachine(const std::string& wanted) {
  if (wanted.empty() || wanted == "cuda") {
    KERF_ASSIGN_OR_RETURN(const device::ProbeResult gpus,
                          device::Probe(device::Backend::kCuda, device::ProbeOptions()));
    if (!gpus.devices.empty()) {
      const std::string chip = gpus.devices.front().chip;
      return RunMachine{"cuda", chip.empty() ? "a100" : chip};
    }
    if (wanted == "cuda") return RunMachine{"cuda", "a100"};
  }
  if (wanted == "ascend") return RunMachine{"ascend", "ascend910b4"};
  return RunMachine{"cpu", CpuArch()};
}

Result<TaskSpec> RunSpec(const Args& args, const Config& config, const RunMachine& machine,
                         const std::string& word, FileSystem& fs) {
  KERF_ASSIGN_OR_RETURN(TaskSpec spec, OneSpec(args, config, fs, word));
  KERF_RETURN_IF_ERROR(FillIn(args, machine, spec));
  return spec;
}

void MakeDistinct(std::vector<TaskSpec>& specs) {
  std::set<std::pair<std::string, std::string>> taken;
  for (TaskSpec& spec : specs) {
    const std::string wanted = spec.task_id;
    for (int i = 1; !taken.insert({spec.op_name, spec.task_id}).second; ++i) {
      spec.task_id = wanted == "0" ? std::to_string(i) : wanted + "-" + std::to_string(i);
    }
  }
}

Result<RunTasks> RunSpecs(const Args& args, const Config& config, FileSystem& fs) {
  std::vector<std::string> words;
  std::vector<TaskPath> sentences;
  for (const std::string& word : args.Positionals()) {
    if (LooksLikeSentence(fs, word)) {
      sentences.push_back({word});
    } else {
      words.push_back(word);
    }
  }
  RunTasks tasks;
  KERF_ASSIGN_OR_RETURN(std::vector<TaskPath> paths, TaskPaths(words, fs, tasks.ignored));
  paths.insert(paths.end(), sentences.begin(), sentences.end());
  if (paths.size() > 1 && args.Has("--op-name")) {
    return InvalidInput("--op-name names one task; there are " + std::to_string(paths.size()));
  }
  KERF_ASSIGN_OR_RETURN(const RunMachine machine, FindRunMachine(args.Get("--backend")));
  for (const TaskPath& one : paths) {
    Result<TaskSpec> spec = RunSpec(args, config, machine, one.path, fs);
    if (spec.ok()) {
      tasks.specs.push_back(std::move(*spec));
    } else if (one.found && spec.error().code == ErrorCode::kInvalidInput) {
      tasks.skipped.push_back(spec.error().message);
    } else {
      return spec.error();
    }
  }
  if (tasks.specs.empty()) return InvalidInput(tasks.skipped.front());
  MakeDistinct(tasks.specs);
  return tasks;
}

Result<conduct::Start> RunStart(const Args& args, FileSystem& fs) {
  conduct::Start start;
  if (args.Has("--design")) {
    KERF_ASSIGN_OR_RETURN(start.design, fs.ReadFile(args.Get("--design")));
    start.action = ActionType::kDoCoder;
  }
  if (args.Has("--code")) {
    KERF_ASSIGN_OR_RETURN(start.code, fs.ReadFile(args.Get("--code")));
    start.action = ActionType::kVerify;
  }
  if (args.Has("--coder-only") && !args.Has("--code")) start.action = ActionType::kDoCoderDirect;
  if (!args.Has("--start")) return start;
  const std::optional<ActionType> action = ParseAction(args.Get("--start"));
  if (!action.has_value() || *action == ActionType::kExit) {
    return InvalidInput(
        "--start takes DO_DESIGNER, FIX_DESIGNER, DO_CODER, DO_CODER_DIRECT, "
        "FIX_CODER or VERIFY, not '" +
        args.Get("--start") + "'");
  }
  start.action = *action;
  const bool needs_code = *action == ActionType::kVerify || *action == ActionType::kFixCoder;
  if (needs_code && start.code.empty()) {
    return InvalidInput("--start " + args.Get("--start") + " needs --code FILE");
  }
  if (*action == ActionType::kFixDesigner && start.design.empty()) {
    return InvalidInput("--start FIX_DESIGNER needs --design FILE");
  }
  return start;
}

}  // namespace kerf::cli

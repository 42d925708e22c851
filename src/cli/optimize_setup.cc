#include "cli/optimize_setup.h"

#include <algorithm>
#include <cctype>

#include "cli/render/output.h"
#include "dataset/data_file.h"
#include "dataset/language.h"
#include "loop/task/spec_check.h"
#include "loop/task/task_file.h"

namespace kerf::cli {
namespace {

using optimize::Case;
using optimize::DataSet;
using optimize::Rules;
using optimize::Settings;

// For file names, modules and symbols.
std::string Identifier(const std::string& name) {
  std::string text;
  for (const char c : name) {
    text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) text = "op_" + text;
  return text;
}

// A flag that was not given keeps what the run began with; one that was must agree.
Status Agree(const Args& args, const char* flag, const std::string& now, const std::string& then) {
  if (!args.Has(flag) || now == then) return {};
  return InvalidInput(std::string(flag) + " " + now + " differs from the run's " +
                      (then.empty() ? "own choice" : then) +
                      "; --resume goes on as it was begun, another --out begins anew");
}

Status TakeCount(const Args& args, const char* flag, int64_t least, bool resumed, int64_t& into) {
  const std::optional<int64_t> given = args.GetNumber(flag);
  if (!given.has_value()) return {};
  if (*given < least) {
    return InvalidInput(std::string(flag) + " must be " + std::to_string(least) + " or more");
  }
  if (resumed) {
    KERF_RETURN_IF_ERROR(Agree(args, flag, std::to_string(*given), std::to_string(into)));
  }
  into = *given;
  return {};
}

Status TakeSwitch(const Args& args, const char* flag, bool value, bool resumed, bool& into) {
  if (!args.Has(flag)) return {};
  if (resumed && into != value) {
    return InvalidInput(std::string(flag) +
                        ": the run was begun otherwise; --resume goes on as it "
                        "was begun, another --out begins anew");
  }
  into = value;
  return {};
}

Status TakeRules(const Args& args, bool resumed, Rules& rules) {
  KERF_RETURN_IF_ERROR(TakeCount(args, "--descendants", 1, resumed, rules.descendants));
  if (!resumed) rules.reflect_limit = rules.descendants;
  KERF_RETURN_IF_ERROR(TakeCount(args, "--population", 1, resumed, rules.population));
  KERF_RETURN_IF_ERROR(TakeCount(args, "--debug-limit", 0, resumed, rules.debug_limit));
  KERF_RETURN_IF_ERROR(TakeCount(args, "--reflect-limit", 0, resumed, rules.reflect_limit));
  KERF_RETURN_IF_ERROR(TakeSwitch(args, "--use-predict", true, resumed, rules.use_predict));
  return TakeSwitch(args, "--synth", true, resumed, rules.synth);
}

// Where nothing else is said and all candidates are extensions, which need no GPU here.
std::string WantedBackend(const Args& args, const DataSet& data) {
  if (args.Has("--backend")) return args.Get("--backend");
  const auto on_cpu = [&](const Case& one) {
    return !one.is_task() && (args.Has("--impl") ? args.Get("--impl") == "torch_ext"
                                                 : one.GuessImpl() == Impl::kTorchExt);
  };
  return std::all_of(data.cases.begin(), data.cases.end(), on_cpu) ? "cpu" : "";
}

std::string WhyNotJudged(const Case& one, bool impl_given) {
  if (one.is_task()) return "";
  if (one.test_code.empty()) {
    return "the record has no test_code, and its label is no task file with a Model";
  }
  if (dataset::IsCpp(dataset::DetectLanguage(one.test_code))) {
    return "its test_code is C++, not a test that leaves result_gold";
  }
  if (one.label.empty()) return "the record has no label to hold results against";
  if (one.spec.impl != Impl::kTorchExt && one.spec.impl != Impl::kTriton) {
    return std::string("a test drives torch_ext or triton, not ") + ImplName(one.spec.impl) +
           (impl_given ? " (--impl)" : "");
  }
  if (one.spec.impl == Impl::kTorchExt && one.spec.backend != "cpu") {
    return "tests of torch_ext run on backend cpu only; --backend cpu";
  }
  return "";
}

}  // namespace

Result<DataSet> OptimizeData(const Args& args, Context& context) {
  const std::string path = args.Positional(0);
  std::string mem = args.Get("--mem");
  if (mem.empty() && !dataset::MemPathOf(path).empty()) {
    KERF_ASSIGN_OR_RETURN(const auto info, context.fs.Stat(dataset::MemPathOf(path)));
    if (info.has_value()) mem = dataset::MemPathOf(path);
  }
  return optimize::ReadDataSet(path, mem);
}

Result<Settings> OptimizeSettings(const Args& args, const Config& config, const DataSet& data,
                                  const Settings* before) {
  const bool resumed = before != nullptr;
  Settings settings = resumed ? *before : Settings();
  KERF_RETURN_IF_ERROR(TakeRules(args, resumed, settings.rules));
  KERF_RETURN_IF_ERROR(TakeSwitch(args, "--no-measure", false, resumed, settings.measure));
  if (resumed) {
    if (settings.data_sha256 != data.sha256) {
      return InvalidInput(
          args.Positional(0) +
          " is not the data the run was begun with; use the same, or another --out");
    }
    KERF_RETURN_IF_ERROR(Agree(args, "--impl", args.Get("--impl"), settings.impl));
    KERF_RETURN_IF_ERROR(Agree(args, "--backend", args.Get("--backend"), settings.backend));
    KERF_RETURN_IF_ERROR(Agree(args, "--arch", args.Get("--arch"), settings.arch));
    return settings;
  }
  settings.data_sha256 = data.sha256;
  settings.language = config.language;
  settings.impl = args.Get("--impl");
  KERF_ASSIGN_OR_RETURN(const RunMachine machine, FindRunMachine(WantedBackend(args, data)));
  settings.backend = machine.backend;
  settings.arch = args.Has("--arch") ? args.Get("--arch") : machine.arch;
  return settings;
}

void FillInSpecs(const Settings& settings, DataSet& data) {
  for (Case& one : data.cases) {
    TaskSpec& spec = one.spec;
    spec.op_name = Identifier(one.folder);
    spec.backend = settings.backend;
    spec.arch = settings.arch;
    spec.task_desc = one.is_task() ? one.label : one.test_code;
    spec.label = one.is_task() ? "" : one.label;
    spec.impl = one.is_task() ? DefaultImpl(spec.backend, spec.arch) : one.GuessImpl();
    if (const std::optional<Impl> given = ParseImpl(settings.impl)) spec.impl = *given;
    one.not_here = WhyNotJudged(one, !settings.impl.empty());
    if (one.is_task()) {
      const Result<task::TaskFile> file =
          task::MakeTaskFile(spec.op_name + ".py", one.label, std::nullopt);
      if (file.ok()) spec.framework = task::FrameworkName(file->framework);
      if (!file.ok()) one.not_here = file.error().message;
    }
    const Status checked = task::CheckTaskSpec(spec);
    if (one.not_here.empty() && !checked.ok()) one.not_here = checked.error().message;
  }
}

std::vector<TaskSpec> LineSpecs(const Settings& settings, const DataSet& data) {
  std::vector<TaskSpec> specs;
  bool timed = settings.backend != "cpu";
  for (const Case& one : data.cases) {
    // On a CPU what is measured has the machine for itself.
    timed = timed || one.is_task() || one.label.find("import triton") == std::string::npos;
    for (int64_t i = 0; i < settings.rules.descendants; ++i) {
      specs.push_back(one.spec);
      specs.back().op_name = one.folder;
      specs.back().task_id = std::to_string(i);
    }
  }
  specs.front().task_type = timed && settings.measure ? "profile" : "precision_only";
  return specs;
}

}  // namespace kerf::cli

#include "loop/verify/python_candidate.h"

#include "base/file_system.h"
#include "base/json_writer.h"
#include "loop/verify/native_runner.h"

namespace kerf::verify {
namespace {

constexpr const char* kServerInside = "/kerf/python";

const char* KindName(Argument::Kind kind) {
  constexpr const char* kNames[] = {"tensor", "int",  "float",  "bool", "string",
                                    "none",   "ints", "floats", "other"};
  return kNames[static_cast<size_t>(kind)];
}

void WriteArgument(JsonWriter& json, const Argument& argument) {
  using Kind = Argument::Kind;
  json.BeginObject().Key("kind").String(KindName(argument.kind)).Key("value");
  switch (argument.kind) {
    case Kind::kInt:
      json.Int(argument.ints.at(0));
      break;
    case Kind::kBool:
      json.Bool(argument.ints.at(0) != 0);
      break;
    case Kind::kFloat:
      json.Double(argument.floats.at(0));
      break;
    case Kind::kString:
      json.String(argument.text);
      break;
    case Kind::kInts:
      json.BeginArray();
      for (const int64_t value : argument.ints) json.Int(value);
      json.EndArray();
      break;
    case Kind::kFloats:
      json.BeginArray();
      for (const double value : argument.floats) json.Double(value);
      json.EndArray();
      break;
    default:
      json.Null();
  }
  json.EndObject();
}

void WriteArguments(JsonWriter& json, const char* name, const std::vector<Argument>& arguments) {
  json.Key(name).BeginArray();
  for (const Argument& argument : arguments) WriteArgument(json, argument);
  json.EndArray();
}

}  // namespace

RunnerSpec ServerSpec(const VerifierOptions& options, const std::vector<std::string>& packages) {
  RunnerSpec spec;
  spec.mode = options.mode;
  spec.available = options.available;
  spec.policy = options.python->policy;
  const std::string folder = JoinPath(options.resource_dir, "python/kerf");
  const auto level = sandbox::ChooseLevel(options.mode, *options.available);
  const bool inside = level.ok() && level->has_namespaces();
  if (inside) spec.policy.Read(folder, kServerInside);
  if (options.backend == "cuda") {
    for (const std::string& node : NvidiaNodes()) spec.policy.Weaken(sandbox::AllowDevice{node});
    spec.policy.Variable("CUDA_VISIBLE_DEVICES", options.cuda_device)
        .Variable("TRITON_CACHE_DIR", "/w/triton");
    spec.limits.processes = 1024;
  } else {
    spec.policy.Variable("TRITON_INTERPRET", "1").Variable("TRITON_CACHE_DIR", "/tmp/triton");
  }
  spec.policy.Variable("OMP_WAIT_POLICY", "passive").Variable("GOMP_SPINCOUNT", "0");
  // Large pages where the machine has them: the server is forked for every candidate.
  spec.policy.Variable("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
  // It serves any number of candidates; every call has its own limit.
  spec.limits.wall_time = std::chrono::hours(24);
  spec.limits.cpu_time = std::chrono::hours(48);
  spec.limits.memory_bytes = uint64_t{16} << 30;
  spec.limits.output_bytes = uint64_t{16} << 20;
  spec.argv = {options.python->python, "-B",
               (inside ? kServerInside : folder) + std::string("/candidate_server.py")};
  // Tells the server that all processes it can see are its own.
  if (inside) spec.argv.emplace_back("--contained");
  spec.argv.insert(spec.argv.end(), packages.begin(), packages.end());
  return spec;
}

void AllowCompiling(const std::string& work_folder, const std::string& include_path,
                    RunnerSpec& spec) {
  spec.policy.WorkFolder(work_folder);
  // The distribution's own headers are in view already.
  if (!include_path.empty() && include_path.rfind("/usr/", 0) != 0) spec.policy.Read(include_path);
  spec.policy.Weaken(sandbox::AllowExecFromWorkFolder{});
  spec.policy.Variable("TORCHINDUCTOR_CACHE_DIR", "/w/inductor")
      .Variable("TMPDIR", "/w")
      .Variable("TORCHINDUCTOR_COMPILE_THREADS", "1");
}

std::string DescribePythonCandidate(const Candidate& candidate, const Reference& reference,
                                    const std::string& device) {
  std::string text;
  JsonWriter json(text);
  const std::string impl = ImplName(candidate.impl);
  json.BeginObject()
      .Key("impl")
      .String(impl)
      .Key("framework")
      .String(reference.framework)
      .Key("device")
      .String(device);
  json.Key("op_name").String(candidate.op_name);
  json.Key("file_name").String(candidate.op_name + "_" + impl + ".py");
  json.Key("functions").BeginArray();
  json.String(candidate.op_name + "_" + impl + "_" + reference.framework).EndArray();
  WriteArguments(json, "inputs", reference.cases.at(0).inputs);
  WriteArguments(json, "init", reference.init);
  json.EndObject();
  return text;
}

std::string DescribeExtension(const Candidate& candidate, const BuiltExtension& extension,
                              const Reference& reference, const std::string& device,
                              bool in_python) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("impl").String("torch_ext").Key("framework").String(reference.framework);
  json.Key("device").String(device);
  json.Key("file_name").String(candidate.op_name + (in_python ? ".py" : ".cc"));
  if (in_python) json.Key("inline").Bool(true);
  json.Key("library").String(extension.library).Key("module").String(extension.module);
  json.Key("operators").String(extension.bound.module.empty() ? extension.bound.library : "");
  json.Key("functions").BeginArray();
  json.String(candidate.op_name).String("forward").EndArray();
  WriteArguments(json, "inputs", reference.cases.at(0).inputs);
  WriteArguments(json, "init", reference.init);
  json.EndObject();
  return text;
}

std::string DescribeTest(const BuiltExtension& extension, const TestPlan& plan) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("impl").String("torch_ext").Key("framework").String("torch");
  json.Key("device").String(plan.device).Key("seed").Int(plan.seed);
  json.Key("file_name").String("test_code.py").Key("test").Bool(true);
  json.Key("library").String(extension.library).Key("module").String(extension.module);
  json.Key("operators").String(extension.bound.module.empty() ? extension.bound.library : "");
  for (const char* list : {"functions", "inputs", "init"}) json.Key(list).BeginArray().EndArray();
  json.EndObject();
  return text;
}

std::string DescribeScript(const TestPlan& plan, size_t code_bytes, size_t test_at) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("impl").String("script").Key("framework").String("torch");
  json.Key("device").String(plan.device).Key("seed").Int(plan.seed).Key("muted").Bool(plan.muted);
  json.Key("file_name").String("candidate.py").Key("test").Bool(true);
  json.Key("module").String(plan.module);
  json.Key("code_bytes").Int(static_cast<int64_t>(code_bytes));
  json.Key("test_at").Int(static_cast<int64_t>(test_at));
  for (const char* list : {"functions", "inputs", "init"}) json.Key(list).BeginArray().EndArray();
  json.EndObject();
  return text;
}

std::string DescribeReference(const std::string& file_name, const Reference& reference,
                              bool compile, const std::string& device) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject()
      .Key("impl")
      .String("reference")
      .Key("framework")
      .String(reference.framework)
      .Key("device")
      .String(device);
  json.Key("file_name").String(file_name).Key("class").String("Model").Key("compile").Bool(compile);
  json.Key("functions").BeginArray().EndArray();
  WriteArguments(json, "inputs", reference.cases.at(0).inputs);
  WriteArguments(json, "init", reference.init);
  json.EndObject();
  return text;
}

}  // namespace kerf::verify

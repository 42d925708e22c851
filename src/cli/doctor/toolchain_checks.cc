#include "cli/doctor/check.h"

namespace kerf::cli {
namespace {

// A program that reports its version, under any of several names or paths.
struct Tool {
  std::string name;
  std::vector<std::string> programs;  // in PATH, or absolute
  std::string enables;
  std::string install;
};

std::string Locate(Machine& machine, const Tool& tool) {
  for (const std::string& program : tool.programs) {
    if (program.front() == '/') {
      if (machine.IsExecutable(program)) return program;
      continue;
    }
    const std::vector<std::string> found = machine.FindPrograms(program);
    if (!found.empty()) return found.front();
  }
  return "";
}

Finding CheckTool(Machine& machine, const Tool& tool) {
  Finding finding{tool.name, Health::kMissing, "", tool.enables, tool.install};
  const std::string path = Locate(machine, tool);
  if (path.empty()) return finding;
  const std::string output = OutputOf(machine, {path, "--version"});
  finding.health = output.empty() ? Health::kLimited : Health::kOk;
  finding.detail = output.empty() ? path + " is there, but '--version' fails or hangs"
                                  : VersionIn(output) + " (" + path + ")";
  return finding;
}

std::vector<std::string> WithHome(Machine& machine, const std::string& program,
                                  const std::vector<std::string>& variables,
                                  const std::string& usual_home) {
  std::vector<std::string> programs;
  for (const std::string& variable : variables) {
    if (const auto home = machine.Variable(variable)) programs.push_back(*home + "/bin/" + program);
  }
  programs.push_back(program);
  programs.push_back(usual_home + "/bin/" + program);
  return programs;
}

std::vector<Finding> CheckGxx(Machine& machine) {
  return {CheckTool(
      machine,
      {"g++", {"g++"}, "building C++ candidates and simulated kernels", "apt-get install g++"})};
}

std::vector<Finding> CheckClang(Machine& machine) {
  return {CheckTool(machine, {"clang++",
                              {"clang++", "clang++-19", "clang++-16", "clang++-15", "clang++-14"},
                              "building C++ candidates with a second compiler, and the fuzzers",
                              "apt-get install clang"})};
}

std::vector<Finding> CheckNvcc(Machine& machine) {
  return {CheckTool(
      machine, {"nvcc", WithHome(machine, "nvcc", {"CUDA_HOME", "CUDA_PATH"}, "/usr/local/cuda"),
                "building CUDA C candidates for an NVIDIA GPU",
                "install NVIDIA's CUDA toolkit (not part of Debian), or set CUDA_HOME to it"})};
}

std::vector<Finding> CheckHipcc(Machine& machine) {
  return {CheckTool(machine,
                    {"hipcc", WithHome(machine, "hipcc", {"ROCM_PATH", "HIP_PATH"}, "/opt/rocm"),
                     "building HIP candidates for an AMD GPU", "apt-get install hipcc"})};
}

std::vector<Finding> CheckCcache(Machine& machine) {
  return {CheckTool(
      machine,
      {"ccache", {"ccache"}, "building kerf itself again in seconds", "apt-get install ccache"})};
}

std::vector<Finding> CheckSlurm(Machine& machine) {
  return {
      CheckTool(machine, {"Slurm",
                          {"sbatch"},
                          "sending batches of tasks to a cluster",
                          "apt-get install slurm-client, then ask for the cluster's slurm.conf"})};
}

// Names only: the values are secrets and must not reach a terminal, a log or a bug report.
std::vector<Finding> CheckModel(Machine& machine) {
  Finding finding{"model endpoint", Health::kMissing, "",
                  "designing and coding with a language model",
                  "export OPENAI_API_KEY=… (with OPENAI_BASE_URL=… for your own server), or export "
                  "ANTHROPIC_API_KEY=…"};
  for (const char* name : {"OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"}) {
    if (!machine.Variable(name).has_value()) continue;
    finding.health = Health::kOk;
    finding.detail += (finding.detail.empty() ? "" : ", ") + std::string(name);
  }
  if (finding.health == Health::kOk) finding.detail += " set (not tried)";
  return {finding};
}

}  // namespace

std::vector<Check> ToolchainChecks() {
  return {CheckGxx, CheckClang, CheckNvcc, CheckHipcc, CheckCcache, CheckSlurm, CheckModel};
}

}  // namespace kerf::cli

// Runs a program that nobody trusts.
//
//   const Sandbox sandbox(policy, limits, Mode::kRequired);
//   KERF_ASSIGN_OR_RETURN(const Outcome outcome, sandbox.Run({"/candidate/run", "--seed", "1"}));
//   if (outcome.succeeded()) Use(ReadResultFile(work_folder, "out.bin", most));
//
// Whatever the program does is an Outcome. An Error means that kerf could not try: a layer that was
// required is missing, the policy makes no sense, or somebody stopped it (stop_scope.h).
//
// When Run() returns no process of the program is alive, what it wrote in the work folder belongs
// to the caller, and nothing else has changed. The program dies with the thread that runs it.
//
// Thread-safe: any number of threads may run programs at once, each with its own work folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/level.h"
#include "sandbox/limits.h"
#include "sandbox/outcome.h"
#include "sandbox/policy.h"
#include "sandbox/probe.h"
#include "sandbox/work_folder.h"

namespace kerf::sandbox {

enum class Mode {
  // Namespaces, seccomp, no privileges: kUnavailable, with the layer's name, where one is missing.
  // Landlock and cgroups are used where they are there.
  kRequired,
  // With what the machine has. Without namespaces the program sees the host's paths (its work
  // folder
  // is not /w; start it there and use relative ones), and only Landlock and seccomp, where
  // present, keep it from the caller's files and the network.
  kBest,
  // Resource limits and an own environment, nothing else: the program can do whatever the caller
  // can. For candidates the caller wrote.
  kOff,
};

const char* ModeName(Mode mode);  // "required", "best", "off"
std::optional<Mode> ParseMode(std::string_view name);

class Sandbox {
 public:
  // `available` is what the machine provides; tests take layers away to see whether the others
  // hold.
  Sandbox(Policy policy, Limits limits, Mode mode, SandboxLevel available = Probe())
      : policy_(std::move(policy)),
        limits_(limits),
        mode_(mode),
        available_(std::move(available)) {}

  // argv[0] is a path as the program's side sees it; it is not looked up in PATH. `input` is what
  // the program reads from stdin.
  [[nodiscard]] Result<Outcome> Run(const std::vector<std::string>& argv,
                                    const std::string& input = "") const;
  // The same with a descriptor of the caller as the program's stdin: a socket, over which another
  // thread of the caller talks with the program. Whatever the program sends there is not trusted.
  [[nodiscard]] Result<Outcome> RunOn(const std::vector<std::string>& argv, int stdin_fd) const;

 private:
  [[nodiscard]] Result<Outcome> Start(const std::vector<std::string>& argv, int stdin_fd) const;

  const Policy policy_;
  const Limits limits_;
  const Mode mode_;
  const SandboxLevel available_;
};

// The layers a mode would use on a machine that has `available`; kUnavailable when that is too few.
Result<SandboxLevel> ChooseLevel(Mode mode, const SandboxLevel& available);

}  // namespace kerf::sandbox

// What the verbs that lead tasks (run, bench) share: from flags and specs to models, judge and open
// tasks.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/task_spec.h"
#include "base/ids.h"
#include "base/result.h"
#include "cli/config.h"
#include "cli/models.h"
#include "cli/verb.h"
#include "llm/prompt_library.h"
#include "loop/conduct/judge.h"
#include "loop/conduct/task.h"
#include "trace/redactor.h"

namespace kerf::cli {

// Everything the tasks of a run share. Stays where it is once a task is open.
struct Workshop {
  Config config;
  std::string log_dir;
  std::unique_ptr<IdSource> ids = MakeRandomIds();
  std::unique_ptr<Models> models;
  std::optional<llm::PromptLibrary> prompts;
  trace::Redactor redactor;
  std::map<std::string, std::string> sentences;  // by "op/task": what a model wrote the task from
};

// AIKG's: a folder of its own for every run, "Task_x1y2z3w4".
std::string FreshLogDir(const Config& config, const std::string& kind);

// All specs have one backend and one task type.
Result<Workshop> SetUpRun(const Args& args, const std::vector<TaskSpec>& specs, Config config,
                          std::string log_dir, Context& context);

// How many candidates are judged at once: what is measured has the machine for itself.
int JudgeJobs(const Config& config, const std::vector<TaskSpec>& specs);
// How many threads each of them has.
int JudgeThreads(const Config& config, const std::vector<TaskSpec>& specs);
Result<std::unique_ptr<conduct::JudgePool>> MakeJudge(const Args& args, const Config& config,
                                                      const std::vector<TaskSpec>& specs,
                                                      Context& context);

// A new task, or one that goes on with what is recorded (--resume, --fork).
Result<std::unique_ptr<conduct::Task>> OpenTask(const Args& args, Workshop& shop, TaskSpec spec,
                                                Context& context);

// What flags do not say is taken from the run that is resumed: whoever goes on with it need not
// know how it was begun.
Status TakeRecorded(const Args& args, const std::string& log_dir, FileSystem& fs, Config& config,
                    std::vector<TaskSpec>& specs);
// The same for a fork, from the run it begins with.
Status TakeForked(const Args& args, FileSystem& fs, Config& config, TaskSpec& spec);

// What was used before a run was resumed counts against its limits.
void AddRecordedUse(Workshop& shop, const std::vector<TaskSpec>& specs, Context& context);

}  // namespace kerf::cli

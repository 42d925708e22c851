// Captures a task as a graph (docs/formats/graph.md), in the sandbox, once.
//
//   KERF_ASSIGN_OR_RETURN(const TaskGraphs graphs, MakeGraphs(fs, task, {}, python, cache_dir));
//   if (graphs.refusal.has_value()) ...   // the task cannot be captured, and why
//   const Graph& graph = graphs.variants.front();
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "artifact/graph.h"
#include "base/file_system.h"
#include "base/result.h"
#include "loop/task/interpreter.h"
#include "loop/task/task_file.h"
#include "loop/task/task_runner.h"

namespace kerf::task {

struct GraphOptions {
  TaskRunOptions run = {.timeout = std::chrono::minutes(2)};
};

struct TaskGraphs {
  std::vector<Graph> variants;          // one for each of a dynamic task's; else one
  std::optional<GraphRefusal> refusal;  // then there is no graph
  bool cached = false;
};

// From the cache (a file in `cache_root`/graphs) when it is there. A task that cannot be captured
// is an answer; kInvalidInput with its own message and line when it does not even run.
Result<TaskGraphs> MakeGraphs(FileSystem& fs, const TaskFile& task, const GraphOptions& options,
                              const Interpreter& interpreter, const std::string& cache_root);

}  // namespace kerf::task

// kerf task graph: what the synthesizer sees of a task.
#include <fmt/core.h>

#include "base/cache_dir.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/table.h"
#include "loop/task/graph_maker.h"

namespace kerf::cli {
namespace {

struct Captured {
  task::TaskFile file;
  task::TaskGraphs graphs;
};

Result<Captured> Capture(const Args& args, Context& context) {
  Captured captured;
  const int64_t timeout = args.GetNumber("--timeout").value_or(120);
  if (timeout < 1 || timeout > 86'400) return InvalidInput("--timeout takes 1 to 86400 seconds");
  KERF_ASSIGN_OR_RETURN(captured.file,
                        task::ReadTaskFile(context.fs, args.Positional(0),
                                           task::ParseFramework(args.Get("--framework"))));
  KERF_ASSIGN_OR_RETURN(const std::string cache_dir, OpenCacheDir());
  context.out.Progress("looking for an interpreter with " +
                       std::string(task::FrameworkName(captured.file.framework)));
  KERF_ASSIGN_OR_RETURN(
      const task::Interpreter interpreter,
      task::FindInterpreter(task::SearchHere(context.fs, cache_dir), captured.file.framework));
  task::GraphOptions options;
  options.run.timeout = std::chrono::seconds(timeout);
  options.run.mode = *sandbox::ParseMode(args.Get("--sandbox"));
  context.out.Progress("running the model once to see its operations");
  KERF_ASSIGN_OR_RETURN(captured.graphs, task::MakeGraphs(context.fs, captured.file, options,
                                                          interpreter, cache_dir));
  context.out.Progress("");
  return captured;
}

std::string Origin(const GraphInput& input) {
  switch (input.source) {
    case GraphInput::Source::kInput:
      return fmt::format("inputs[{}]", input.index);
    case GraphInput::Source::kParam:
      return fmt::format("params[{}] {}", input.index, input.name);
    case GraphInput::Source::kConstant:
      break;
  }
  return fmt::format("constant, {} bytes", input.data.size());
}

// "self=%0, dim=[1]": what is null or false says nothing to a person.
std::string Arguments(const GraphNode& node) {
  std::string text;
  for (const auto& [name, arg] : node.args) {
    if (arg.is_none() || arg.AsBool() == false) continue;
    text += (text.empty() ? "" : ", ") + name + "=" + arg.ToString();
  }
  return text;
}

std::string Results(const Graph& graph, const GraphNode& node, bool with_spec) {
  std::string text;
  for (const ValueId id : node.outputs) {
    if (!text.empty()) text += ", ";
    if (id == kNoValue) {
      text += "_";
    } else {
      text += with_spec ? graph.spec(id).ToString() : "%" + std::to_string(id);
    }
  }
  return text;
}

void PrintGraph(const Graph& graph, Output& out) {
  Table table({{"VALUE", Align::kRight},
               {"TYPE"},
               {"OPERATION"},
               {"ARGUMENTS"},
               {"LINE", Align::kRight},
               {"SOURCE"}});
  for (const GraphInput& input : graph.inputs) {
    table.AddRow({{"%" + std::to_string(input.value)},
                  {graph.spec(input.value).ToString()},
                  {Origin(input), Style::kDim},
                  {""},
                  {""},
                  {""}});
  }
  for (const GraphNode& node : graph.nodes) {
    table.AddRow({{Results(graph, node, false)},
                  {Results(graph, node, true)},
                  {node.op},
                  {Arguments(node)},
                  {node.line > 0 ? std::to_string(node.line) : ""},
                  {node.text, Style::kDim}});
  }
  out.Data(table.Render(out));
  std::string outputs;
  for (const ValueId id : graph.outputs) outputs += " %" + std::to_string(id);
  out.Data("returns" + outputs + "\n");
  for (const SpecialisedNumber& number : graph.specialised) {
    out.Data(
        fmt::format("holds for inputs[{}] = {} only\n", number.index, number.value.ToString()));
  }
}

void PrintText(const Captured& captured, Output& out) {
  const std::vector<Graph>& variants = captured.graphs.variants;
  for (size_t i = 0; i < variants.size(); ++i) {
    if (variants.size() > 1) out.Data(fmt::format("{}variant {}\n", i > 0 ? "\n" : "", i));
    PrintGraph(variants[i], out);
  }
  out.Note(fmt::format("{}: {} operations ({} {}, {}{})", captured.file.op_name,
                       variants[0].nodes.size(), variants[0].framework,
                       variants[0].framework_version, variants[0].capture,
                       captured.graphs.cached ? ", cached" : ""));
}

// The documents themselves, one on each line.
void PrintJson(const task::TaskGraphs& graphs, Output& out) {
  if (graphs.refusal.has_value()) {
    out.Data(WriteRefusal(*graphs.refusal) + "\n");
    return;
  }
  for (const Graph& graph : graphs.variants) out.Data(WriteGraph(graph) + "\n");
}

Result<int> RunTaskGraph(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const Captured captured, Capture(args, context));
  if (args.Has("--json")) {
    PrintJson(captured.graphs, context.out);
  } else if (captured.graphs.refusal.has_value()) {
    context.out.Data(context.out.Styled("not captured", Style::kBad) + ": " +
                     captured.graphs.refusal->ToString() + "\n");
  } else {
    PrintText(captured, context.out);
  }
  return captured.graphs.refusal.has_value() ? kExitNegative : kExitDone;
}

}  // namespace

Verb TaskGraphVerb() {
  return {
      .name = "task graph",
      .summary = "Show the tensor operations a task consists of",
      .details =
          "Runs the model of the task in the sandbox and notes every tensor operation, in the\n"
          "normal form that the synthesizer plans from (docs/formats/graph.md), with shapes, "
          "types\n"
          "and the line of the task that asked for it. --json prints the graph itself, one line "
          "for\n"
          "each variant of a dynamic task.\n"
          "Exit 0 when there is a graph, 1 when the task cannot be captured, 2 when it cannot run.",
      .positionals = {{.name = "TASK", .help = "a task file: Model, get_inputs, get_init_inputs"}},
      .flags = {{.name = "--framework",
                 .value_name = "F",
                 .help = "its framework, when the imports do not tell",
                 .choices = {"torch", "numpy", "mindspore"}},
                {.name = "--timeout",
                 .value_name = "S",
                 .help = "seconds the model may take",
                 .default_value = "120",
                 .number = true},
                {.name = "--sandbox",
                 .value_name = "MODE",
                 .help = "which walls must stand around it",
                 .default_value = "best",
                 .choices = {"required", "best", "off"}},
                JsonFlag()},
      .examples = {{"kerf task graph examples/tasks/layernorm_torch.py", "one of the examples"},
                   {"kerf task graph 19_ReLU.py --json", "for a script"}},
      .run = RunTaskGraph};
}

}  // namespace kerf::cli

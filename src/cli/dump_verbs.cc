// kerf dump ls, show, check: what a dump of kernel arguments holds, and whether it is sound.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "artifact/scalar_bits.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/step_text.h"
#include "cli/render/table.h"
#include "cli/render/text_width.h"
#include "replay/dump/dump_check.h"
#include "replay/dump/dump_reader.h"
#include "replay/dump/dump_select.h"
#include "replay/replayer.h"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string WhatOf(const DumpArg& arg) {
  if (arg.is_tensor) {
    const auto tensor = dump::TensorOf(arg);
    return tensor.ok() ? DescribeTensor(*tensor) : "damaged";
  }
  if (!arg.bits) return "no value";
  return arg.type_text + " " + ScalarText({*arg.type, *arg.bits});
}

uint64_t PayloadBytes(const Dispatch& dispatch) {
  uint64_t bytes = 0;
  for (const DumpArg& arg : dispatch.args) bytes += arg.bin_size;
  return bytes;
}

std::string IdOf(const Dispatch& dispatch) {
  return dispatch.dispatch_id ? std::to_string(*dispatch.dispatch_id) : "";
}

std::string TaskOf(const Dispatch& dispatch) {
  return dispatch.task_id ? TaskIdText(*dispatch.task_id) : "";
}

Json ArgJson(const DumpArg& arg) {
  return {{"index", arg.slot},
          {"stage", DumpStageName(arg.stage)},
          {"kind", arg.is_tensor ? "tensor" : "scalar"},
          {"role", ArgRoleName(arg.role)},
          {"what", WhatOf(arg)},
          {"payload_bytes", arg.bin_size},
          {"truncated", arg.truncated},
          {"overwritten", arg.overwritten},
          {"where", arg.where}};
}

Json DispatchJson(const Dispatch& dispatch, bool with_args) {
  Json json = {{"dispatch_id", dispatch.dispatch_id ? Json(*dispatch.dispatch_id) : Json()},
               {"task_id", dispatch.task_id ? Json(TaskOf(dispatch)) : Json()},
               {"func_ids", dispatch.func_ids},
               {"core_type", dispatch.core_type},
               {"records", dispatch.args.size()},
               {"payload_bytes", PayloadBytes(dispatch)}};
  if (!with_args) return json;
  json["args"] = Json::array();
  for (const DumpArg& arg : dispatch.args) json["args"].push_back(ArgJson(arg));
  return json;
}

std::string ShapesOf(const Dispatch& dispatch) {
  std::string text;
  for (const DumpArg& arg : dispatch.args) {
    if (arg.is_tensor && arg.slot < kLocalContextSlot)
      text += (text.empty() ? "" : ", ") + WhatOf(arg);
  }
  return text;
}

Result<int> RunLs(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const Dump dump, dump::ReadDump(context.fs, args.Positional(0)));
  if (args.Has("--json")) {
    Json json = {{"file", dump.file},
                 {"format", DumpFormatName(dump.format)},
                 {"payload_bytes", dump.bin_bytes},
                 {"dispatches", Json::array()}};
    for (const Dispatch& dispatch : dump.dispatches)
      json["dispatches"].push_back(DispatchJson(dispatch, false));
    context.out.Data(DumpJson(json) + "\n");
    return kExitDone;
  }
  Table table({{"DISPATCH", Align::kRight},
               {"TASK"},
               {"FUNC"},
               {"SLOTS", Align::kRight},
               {"PAYLOAD", Align::kRight},
               {"TENSORS"}});
  for (const Dispatch& dispatch : dump.dispatches) {
    table.AddRow({{IdOf(dispatch)},
                  {TaskOf(dispatch)},
                  {FuncIdsText(dispatch.func_ids)},
                  {std::to_string(dispatch.args.size())},
                  {std::to_string(PayloadBytes(dispatch))},
                  {ShapesOf(dispatch)}});
  }
  context.out.Data(table.Render(context.out));
  context.out.Note(fmt::format("{}: {} dispatches", dump.file, dump.dispatches.size()));
  return kExitDone;
}

Result<int> RunShow(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const Dump dump, dump::ReadDump(context.fs, args.Positional(0)));
  dump::DispatchQuery query{.dispatch_id = args.GetNumber("--dispatch-id")};
  if (const std::string ids = args.Get("--func-id"); !ids.empty()) {
    KERF_ASSIGN_OR_RETURN(query.func_ids, replay::ParseFuncIds(ids));
  }
  if (const std::string task = args.Get("--task-id"); !task.empty()) {
    KERF_ASSIGN_OR_RETURN(query.task_id, replay::ParseTask(task));
  }
  KERF_ASSIGN_OR_RETURN(const dump::Selected selected, dump::SelectDispatch(dump, query));
  for (const std::string& note : selected.notes) context.out.Note("note: " + note);
  if (args.Has("--json")) {
    context.out.Data(DumpJson(DispatchJson(*selected.dispatch, true)) + "\n");
    return kExitDone;
  }
  Table table({{"SLOT", Align::kRight},
               {"STAGE"},
               {"KIND"},
               {"ROLE"},
               {"WHAT"},
               {"PAYLOAD", Align::kRight},
               {"STATE"}});
  for (const DumpArg& arg : selected.dispatch->args) {
    const char* state = arg.overwritten ? "overwritten" : arg.truncated ? "truncated" : "";
    table.AddRow({{std::to_string(arg.slot)},
                  {DumpStageName(arg.stage)},
                  {arg.is_tensor ? "tensor" : "scalar"},
                  {ArgRoleName(arg.role)},
                  {WhatOf(arg)},
                  {std::to_string(arg.bin_size)},
                  {state, Style::kBad}});
  }
  context.out.Data(table.Render(context.out));
  return kExitDone;
}

Result<int> RunDumpCheck(const Args& args, Context& context) {
  KERF_ASSIGN_OR_RETURN(const Dump dump, dump::ReadDump(context.fs, args.Positional(0)));
  const std::vector<dump::Finding> findings = dump::CheckDump(dump);
  const bool damaged = std::any_of(findings.begin(), findings.end(),
                                   [](const dump::Finding& one) { return one.damage; });
  if (args.Has("--json")) {
    Json json = {{"ok", !damaged},
                 {"file", dump.file},
                 {"dispatches", dump.dispatches.size()},
                 {"findings", Json::array()}};
    for (const dump::Finding& finding : findings) {
      json["findings"].push_back(
          {{"damage", finding.damage}, {"where", finding.where}, {"what", finding.what}});
    }
    context.out.Data(DumpJson(json) + "\n");
    return damaged ? kExitCorrupt : kExitDone;
  }
  for (const dump::Finding& finding : findings) {
    context.out.Data(
        context.out.Styled(finding.damage ? "damage" : "note  ",
                           finding.damage ? Style::kBad : Style::kDim) +
        "  " +
        Printable(finding.where.empty() ? finding.what : finding.where + ": " + finding.what) +
        "\n");
  }
  context.out.Data(fmt::format("{}: {} dispatches: {}\n", Printable(dump.file),
                               dump.dispatches.size(),
                               damaged ? context.out.Styled("damaged", Style::kBad)
                                       : context.out.Styled("sound", Style::kGood)));
  return damaged ? kExitCorrupt : kExitDone;
}

const Positional kDumpDir = {.name = "DIR",
                             .help = "a run's output folder, or its args_dump/ or tensor_dump/"};

}  // namespace

Verb DumpLsVerb() {
  return {.name = "dump ls",
          .summary = "List the dispatches of a dump with their kernels, shapes and sizes",
          .details = "Reads kernel_args_dump.json, args_dump.json or tensor_dump.json.",
          .positionals = {kDumpDir},
          .flags = {JsonFlag()},
          .examples = {{"kerf dump ls outputs/run", "what is there"}},
          .run = RunLs};
}

Verb DumpShowVerb() {
  return {
      .name = "dump show",
      .summary = "Show every argument of one dispatch",
      .details = "Chooses as `kerf insight` does: by func ids, dispatch id or task id.",
      .positionals = {kDumpDir},
      .flags = {{.name = "--func-id",
                 .value_name = "N[,N]",
                 .help = "the whole set of a task's func ids"},
                {.name = "--dispatch-id", .value_name = "N", .help = "its number", .number = true},
                {.name = "--task-id", .value_name = "HEX", .help = "its task"},
                JsonFlag()},
      .examples = {{"kerf dump show outputs/run --func-id 4", "the first task of kernel 4"}},
      .run = RunShow};
}

Verb DumpCheckVerb() {
  return {.name = "dump check",
          .summary = "Verify the sizes, ranges and counts of a dump",
          .details =
              "Exit 4 when a record cannot be right: a payload that is not as long as its shape, a "
              "range\n"
              "outside the file, one slot twice, counts that differ.",
          .positionals = {kDumpDir},
          .flags = {JsonFlag()},
          .examples = {{"kerf dump check outputs/run", "can this run be replayed?"}},
          .run = RunDumpCheck};
}

}  // namespace kerf::cli

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "base/ids.h"
#include "base/subprocess.h"
#include "cli/interrupt.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/trace_owner.h"
#include "trace/append_stream.h"

namespace kerf::cli {
namespace {

// Texts come and go in one thread after the other, tens of megabytes a second. Giving their memory
// back to the kernel each time, only to have it filled with zeros again, takes longer than reading
// JSON.
void KeepMemory() {
#if defined(__GLIBC__)
  constexpr int kMegabyte = 1 << 20;
  (void)::mallopt(M_ARENA_MAX, 1);
  (void)::mallopt(M_TRIM_THRESHOLD, 64 * kMegabyte);
  (void)::mallopt(M_TOP_PAD, 4 * kMegabyte);
  (void)::mallopt(M_MMAP_THRESHOLD, 4 * kMegabyte);
#endif
}

// How a stream uses a machine. docs/measurements.md has what was tried.
struct Sizes {
  size_t hashers;
  size_t writers;
  size_t batch_bytes;
};

// Reading, writing and syncing have a thread each. Without a processor of their own more would only
// take turns with these, and two that write wait for each other where something else could be done.
Sizes SizesFor(unsigned processors) {
  constexpr size_t kMegabyte = size_t{1} << 20;
  if (processors >= 8) return {.hashers = 2, .writers = 2, .batch_bytes = 8 * kMegabyte};
  if (processors >= 4) return {.hashers = 1, .writers = 1, .batch_bytes = 4 * kMegabyte};
  return {.hashers = 0, .writers = 1, .batch_bytes = 4 * kMegabyte};
}

// As many as there may be: every operator and every task hold one.
size_t RaiseDescriptorLimit() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  (void)::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

size_t MaxOpenTasks(size_t descriptors) {
  constexpr size_t kOthers = 64;  // files being written and synced, and everything else
  constexpr size_t kMost = 200;
  return descriptors < kOthers + 8 ? 4 : std::min(kMost, (descriptors - kOthers) / 2);
}

Result<int> RunTraceAppend(const Args& args, Context& context) {
  KeepMemory();
  trace::Redactor redactor;
  redactor.AddEnvironment(EnvironmentEntries());
  for (const std::string& pattern : args.All("--redact")) {
    KERF_RETURN_IF_ERROR(redactor.AddPattern(pattern));
  }
  const Sizes sizes = SizesFor(std::thread::hardware_concurrency());
  const std::unique_ptr<IdSource> ids = MakeRandomIds();
  KERF_ASSIGN_OR_RETURN(
      const std::unique_ptr<trace::Recorder> recorder,
      trace::Recorder::Open(context.fs, context.clock, *ids,
                            {.log_dir = args.Get("--log-dir"),
                             .names = *trace::ParseNames(args.Get("--names")),
                             .owner = TraceOwner(context.clock),
                             .max_open_tasks = MaxOpenTasks(RaiseDescriptorLimit()),
                             .overlap = true,
                             .writers = sizes.writers}));
  const InterruptWatch watch;
  const trace::AppendStreamOptions options{.durability = args.Get("--durability") == "batch"
                                                             ? trace::Durability::kBatch
                                                             : trace::Durability::kStep,
                                           .input_fd = context.stdin_fd,
                                           .stop = [&] { return watch.interrupted(); },
                                           .hashers = sizes.hashers,
                                           .batch_bytes = sizes.batch_bytes};
  const trace::AppendSummary summary =
      trace::RunAppendStream(*recorder, redactor, options, [&](std::string_view lines) {
        context.out.Data(lines);
        return context.out.Flush();
      });
  KERF_RETURN_IF_ERROR(summary.status);
  if (summary.refused > 0) {
    context.out.Note("kerf: " + std::to_string(summary.recorded) + " records stored, " +
                     std::to_string(summary.refused) +
                     " refused (see the lines with \"ok\":false)");
  }
  if (watch.interrupted()) {
    context.out.Note("kerf: stopped; what was read before that is recorded and answered");
    return kExitInterrupted;
  }
  return summary.refused > 0 ? kExitNegative : kExitDone;
}

}  // namespace

Verb TraceAppendVerb() {
  return {
      .name = "trace append",
      .summary = "Record steps from JSON Lines on standard input, durably",
      .details =
          "Each line is an object with kind (designer_or_coder, verifier, conductor), op_name,\n"
          "task_id, action_type (DO_DESIGNER, FIX_DESIGNER, DO_CODER, FIX_CODER,\n"
          "DO_CODER_DIRECT, VERIFY) and the texts: res, prompt, reasoning; for a verifier\n"
          "verify_res, verify_log, profile; and meta, an object of your own facts\n"
          "(duration_ms, model, tokens, cost_usd ...). For each line, once its record is on\n"
          "the device, one answer: {\"ok\":true,\"op_name\",\"task_id\",\"step\",\"files\"} or\n"
          "{\"ok\":false,\"line\",\"error\"}. Exit 1 when a line was refused. After Ctrl-C "
          "nothing\n"
          "more is read, and what was read is recorded and answered; exit 130.",
      .positionals = {},
      .flags = {{.name = "--log-dir",
                 .value_name = "DIR",
                 .help = "where to record; created when missing",
                 .required = true},
                {.name = "--names",
                 .value_name = "SPELLING",
                 .help = "spelling of file names",
                 .default_value = "doc",
                 .choices = {"doc", "value", "agent", "iteration"}},
                {.name = "--durability",
                 .value_name = "WHEN",
                 .help = "sync each record, or each batch of input, before it is answered",
                 .default_value = "step",
                 .choices = {"step", "batch"}},
                {.name = "--redact",
                 .value_name = "PATTERN",
                 .help = "replace matches (RE2 syntax) in every text",
                 .repeated = true}},
      .examples = {{"kerf trace append --log-dir logs < steps.jsonl", "record a finished run"},
                   {"my_agent | kerf trace append --log-dir logs --durability batch",
                    "record while it runs"}},
      .run = RunTraceAppend};
}

}  // namespace kerf::cli

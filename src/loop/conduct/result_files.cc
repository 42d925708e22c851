#include "loop/conduct/result_files.h"

#include <fmt/core.h>

#include "base/json_writer.h"
#include "loop/conduct/append_line.h"
#include "loop/verify/keep_project.h"

namespace kerf::conduct {
namespace {

const TimingSide* Side(const TimingReport& timing, const std::string& name) {
  for (const TimingSide& side : timing.sides) {
    if (side.name == name && !side.samples_ns.empty()) return &side;
  }
  return nullptr;
}

}  // namespace

Result<std::string> ResultFiles::Keep(const std::string& code, const Verdict& verdict,
                                      const std::vector<int64_t>& seeds) const {
  const std::string folder = trace::VerifyFolder(names, spec.task_id, step);
  const std::string relative = JoinPath(spec.op_name, folder);
  const Candidate candidate{spec.op_name, spec.op_name, spec.impl, code};
  const verify::KeptProject project{spec.task_desc, candidate, verdict, seeds};
  const std::string path = JoinPath(log_dir, relative);
  KERF_RETURN_IF_ERROR(fs.CreateDirs(ParentPath(path)));
  KERF_RETURN_IF_ERROR(verify::KeepProject(fs, path, project, ids));
  if (verdict.correct()) {
    const std::string copy = JoinPath(JoinPath(log_dir, "passed_cases"), relative);
    KERF_RETURN_IF_ERROR(fs.CreateDirs(ParentPath(copy)));
    KERF_RETURN_IF_ERROR(verify::KeepProject(fs, copy, project, ids));
  }
  return relative;
}

Status ResultFiles::Tell(const Verdict& verdict, const Attempt& attempt,
                         const std::string& verify_dir, const std::string& time) const {
  std::string line;
  JsonWriter json(line);
  json.BeginObject().Key("task_name").String(spec.op_name).Key("task_id").String(spec.task_id);
  json.Key("step").Int(step).Key("verify_dir").String(verify_dir);
  json.Key("passed").Bool(attempt.passed).Key("error_log").String(attempt.log);
  json.Key("timestamp").String(time).Key("framework").String(spec.framework);
  json.Key("impl_type").String(ImplName(spec.impl)).Key("backend").String(spec.backend);
  json.Key("arch").String(spec.arch).EndObject().EndLine();
  KERF_RETURN_IF_ERROR(AppendLine(fs, JoinPath(log_dir, "verification_results.jsonl"), line));
  if (!verdict.timing.has_value() || !attempt.speedup.has_value()) return {};
  const TimingSide* base = Side(*verdict.timing, "eager");
  const TimingSide* candidate = Side(*verdict.timing, "candidate");
  if (base == nullptr || candidate == nullptr) return {};
  return AppendLine(
      fs, JoinPath(JoinPath(JoinPath(log_dir, spec.op_name), "profiling"), "speed_up_record.txt"),
      fmt::format("op_name: {}, task_id: {}, unique_dir: {}, base_time: {:.6f} us, "
                  "generation_time: {:.6f} us, speedup: {:.6f}x\n",
                  spec.op_name, spec.task_id, BaseName(verify_dir), base->median_ns / 1e3,
                  candidate->median_ns / 1e3, *attempt.speedup));
}

}  // namespace kerf::conduct

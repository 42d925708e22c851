#include "loop/conduct/synth_provider.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/hash.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "loop/task/graph_maker.h"
#include "loop/task/task_file.h"
#include "sandbox/stop_scope.h"

namespace kerf::conduct {
namespace {

std::string CodeJson(const std::string& code, const std::string& description) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("code").String(code).Key("description").String(description).EndObject();
  return text;
}

std::string Description(const synth::Synthesis& made) {
  std::string text = made.rationale;
  for (const std::string& note : made.notes) text += (text.empty() ? "" : "\n") + note;
  return text;
}

std::string RefusalText(const GraphRefusal& refusal) {
  return "the task cannot be captured as a graph: " + refusal.ToString() +
         "; a model can do it: --model openai:MODEL";
}

}  // namespace

SynthProvider::SynthProvider(FileSystem& fs, Options options)
    : fs_(fs), options_(std::move(options)) {
  for (int i = 0; i < std::max(1, options_.workers); ++i) {
    workers_.emplace_back([this] { Work(); });
  }
}

SynthProvider::~SynthProvider() {
  Stop();
  for (std::thread& worker : workers_) worker.join();
}

void SynthProvider::Ask(llm::Request request, Done done) {
  KERF_CHECK(request.spec != nullptr, "the synthesizer was asked without a task");
  {
    const std::lock_guard lock(mu_);
    if (!stopped_) {
      jobs_.push_back({*request.spec, request.action, request.round, std::move(done)});
      changed_.notify_one();
      return;
    }
  }
  done(Unavailable("stopped"));
}

void SynthProvider::Stop() {
  std::deque<Job> waiting;
  {
    const std::lock_guard lock(mu_);
    stopped_ = true;
    waiting.swap(jobs_);
    changed_.notify_all();
  }
  stop_.request_stop();
  for (Job& job : waiting) job.done(Unavailable("stopped"));
}

void SynthProvider::Work() {
  const sandbox::StopScope scope(stop_.get_token());
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mu_);
      changed_.wait(lock, [&] { return stopped_ || !jobs_.empty(); });
      if (stopped_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    const auto begin = std::chrono::steady_clock::now();
    Result<llm::Reply> reply = Answer(job);
    if (reply.ok()) {
      reply->took_s =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    job.done(std::move(reply));
  }
}

Result<Graph> SynthProvider::Capture(const TaskSpec& spec) {
  KERF_ASSIGN_OR_RETURN(task::TaskFile file,
                        task::MakeTaskFile(spec.op_name + "_" + spec.framework + ".py",
                                           spec.task_desc, task::ParseFramework(spec.framework)));
  KERF_ASSIGN_OR_RETURN(
      const task::Interpreter interpreter,
      task::FindInterpreter(task::SearchHere(fs_, options_.cache_dir), file.framework));
  task::GraphOptions options;
  options.run.mode = options_.mode;
  KERF_ASSIGN_OR_RETURN(task::TaskGraphs graphs,
                        task::MakeGraphs(fs_, file, options, interpreter, options_.cache_dir));
  if (graphs.refusal.has_value()) return InvalidInput(RefusalText(*graphs.refusal));
  if (graphs.variants.size() != 1 || file.dynamic) {
    return InvalidInput(
        "the shapes of this task vary; kerf's synthesizer writes kernels for fixed "
        "shapes; a model can do it: --model openai:MODEL");
  }
  return std::move(graphs.variants.front());
}

std::string SynthProvider::StorePath(const std::string& first_plan, const TaskSpec& spec) const {
  const std::string key = first_plan + '\0' + spec.arch + '\0' + std::to_string(options_.threads);
  return JoinPath(JoinPath(options_.cache_dir, "plans"), Sha256Hex(key).substr(0, 32) + ".json");
}

int SynthProvider::VariantFor(const std::string& store_path, int64_t round) {
  int64_t best = 0;
  if (const Result<std::string> text = fs_.ReadFile(store_path); text.ok()) {
    JsonReader reader(*text);
    std::string key;
    for (reader.BeginObject(); reader.NextKey(key);) {
      if (key == "variant") {
        reader.ReadInt(best);
      } else {
        reader.Skip();
      }
    }
    if (!reader.Finish() || best < 0) best = 0;
  }
  if (round == 0) return static_cast<int>(best);
  // The others in their order.
  return static_cast<int>(round <= best ? round - 1 : round);
}

Result<llm::Reply> SynthProvider::Answer(const Job& job) {
  KERF_ASSIGN_OR_RETURN(const Graph graph, Capture(job.spec));
  synth::SynthOptions options;
  options.impl = ImplName(job.spec.impl);
  options.threads = options_.threads;
  const int64_t round = job.action == ActionType::kFixCoder ? job.round + 1 : 0;
  KERF_ASSIGN_OR_RETURN(auto made, synth::Synthesize(graph, options));
  if (const auto* refusal = std::get_if<synth::Refusal>(&made)) {
    return InvalidInput("kerf's synthesizer cannot do " + refusal->ToString());
  }
  if (round >= synth::VariantCount(graph, options)) {
    return NotFound("all plans of the synthesizer were tried");
  }
  // The first plan stands for the graph: equal graphs have equal ones.
  const std::string store_path = StorePath(std::get<synth::Synthesis>(made).source, job.spec);
  options.variant = VariantFor(store_path, round);
  if (options.variant != 0) {
    KERF_ASSIGN_OR_RETURN(made, synth::Synthesize(graph, options));
    if (std::holds_alternative<synth::Refusal>(made)) {
      return NotFound("all plans of the synthesizer were tried");
    }
  }
  const auto& synthesis = std::get<synth::Synthesis>(made);
  llm::Reply reply;
  reply.finish = llm::Finish::kStop;
  reply.provider = reply.model = name();
  reply.cost = 0;
  reply.attempts.emplace_back();
  if (IsDesigner(job.action)) {
    reply.text = CodeJson(synthesis.aul, synthesis.rationale);
    return reply;
  }
  reply.text = CodeJson(synthesis.source, Description(synthesis));
  const std::lock_guard lock(mu_);
  written_[Sha256Hex(synthesis.source)] = {store_path, options.variant};
  return reply;
}

void SynthProvider::Remember(const std::string& code, double speedup) {
  Written written;
  {
    const std::lock_guard lock(mu_);
    const auto found = written_.find(Sha256Hex(code));
    if (found == written_.end()) return;
    written = found->second;
  }
  std::string text;
  JsonWriter json(text);
  json.BeginObject().Key("variant").Int(written.variant).Key("speedup").Double(speedup);
  json.EndObject().EndLine();
  // A plan that cannot be kept is only found again.
  if (!fs_.CreateDirs(ParentPath(written.store_path)).ok()) return;
  (void)WriteFileAtomic(fs_, written.store_path, text);
}

}  // namespace kerf::conduct

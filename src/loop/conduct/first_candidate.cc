#include "loop/conduct/first_candidate.h"

#include <utility>

namespace kerf::conduct {
namespace {

constexpr char kChecker[] = "conductor_check";
constexpr char kAnalyzer[] = "conductor_analyze";

bool IsWork(const llm::Request& request) {
  return request.agent != kChecker && request.agent != kAnalyzer;
}

// Nobody is paid for looking at what the synthesizer derived from the task's own graph: the
// verifier judges it.
llm::Reply NothingToCheck() {
  llm::Reply reply;
  reply.text =
      R"({"result": 1, "reason": "it is the synthesizer's; the verifier judges it", "suggestions": ""})";
  reply.finish = llm::Finish::kStop;
  reply.finish_raw = "stop";
  reply.provider = "kerf.synth";
  reply.model = "kerf.synth";
  reply.asked = "kerf.synth";
  reply.cost = 0;
  return reply;
}

}  // namespace

FirstCandidate::FirstCandidate(llm::Provider& synth, ModelOf model_of)
    : synth_(synth), model_of_(std::move(model_of)) {}

void FirstCandidate::SetAuthor(const std::string& owner, Author author) {
  const std::lock_guard lock(mu_);
  authors_[owner] = author;
}

FirstCandidate::Author FirstCandidate::AuthorOf(const std::string& owner) const {
  const std::lock_guard lock(mu_);
  const auto found = authors_.find(owner);
  return found == authors_.end() ? Author::kUnknown : found->second;
}

void FirstCandidate::Ask(llm::Request request, Done done) {
  llm::Provider& model = model_of_(request.agent);
  const Author author = AuthorOf(request.owner);
  if (!IsWork(request)) {
    if (author == Author::kSynth && request.agent == kChecker) return done(NothingToCheck());
    return model.Ask(std::move(request), std::move(done));
  }
  const bool first = request.round == 0 && (request.action == ActionType::kDoDesigner ||
                                            request.action == ActionType::kDoCoder ||
                                            request.action == ActionType::kDoCoderDirect);
  if (author != Author::kModel && first) return AskSynth(std::move(request), std::move(done));
  SetAuthor(request.owner, Author::kModel);
  model.Ask(std::move(request), std::move(done));
}

void FirstCandidate::AskSynth(llm::Request request, Done done) {
  llm::Request later = request;
  // They are lent for the time of Ask() only, and a model does not need them.
  later.spec = nullptr;
  later.last = nullptr;
  synth_.Ask(std::move(request), [this, later = std::move(later),
                                  done = std::move(done)](Result<llm::Reply> reply) mutable {
    const bool stopped = !reply.ok() && reply.error().code == ErrorCode::kUnavailable;
    SetAuthor(later.owner, reply.ok() ? Author::kSynth : Author::kModel);
    if (reply.ok() || stopped) return done(std::move(reply));
    const std::string why = "the synthesizer has no kernel: " + reply.error().message;
    llm::Provider& model = model_of_(later.agent);
    model.Ask(std::move(later), [why, done = std::move(done)](Result<llm::Reply> answer) {
      if (answer.ok()) answer->notes.push_back(why);
      done(std::move(answer));
    });
  });
}

}  // namespace kerf::conduct

// The synthesizer's kernel as the first candidate of a model's run: it costs nothing, and it is
// what the model must beat. A task it cannot do goes to the model from the beginning.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "llm/provider.h"

namespace kerf::conduct {

class FirstCandidate : public llm::Provider {
 public:
  using ModelOf = std::function<llm::Provider&(const std::string& agent)>;
  // All of them outlive it and are stopped by whoever made them.
  FirstCandidate(llm::Provider& synth, ModelOf model_of);

  void Ask(llm::Request request, Done done) override;
  void Stop() override {}
  [[nodiscard]] std::string name() const override { return synth_.name(); }

 private:
  // Whose design or code a task has at the moment; unknown before the first, and after a resume.
  enum class Author { kUnknown, kSynth, kModel };

  void AskSynth(llm::Request request, Done done);
  void SetAuthor(const std::string& owner, Author author);
  [[nodiscard]] Author AuthorOf(const std::string& owner) const;

  llm::Provider& synth_;
  const ModelOf model_of_;
  mutable std::mutex mu_;
  std::map<std::string, Author> authors_;  // by task; guarded by mu_
};

}  // namespace kerf::conduct

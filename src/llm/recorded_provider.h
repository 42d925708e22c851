// Answers from what was recorded: a trace played back, or a session AIKG recorded.
//
// A request is answered by the record of the same request: the same hash (request_hash.h), or the
// same messages where the record has them, since the model that is asked now is this one. Asked
// again, it gets the next record of it. Without one, a strict provider says which record is nearest
// and where it differs first; a loose one takes the next unused record of the same agent and owner,
// or of the same agent.
//
// Usage and cost are those of the record, so that a replay comes to the same limits as its
// original. Thread-safe; `done` is called before Ask() returns.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llm/provider.h"

namespace kerf::llm {

// One reply of a trace. The caller reads it: a step's files and its meta.
struct RecordedReply {
  std::string where;  // "relu/0 step 3", for messages
  std::string agent;
  std::string owner;
  std::string request_sha256;     // empty: can be found by order only
  std::string model;              // Provider::name() of the one that answered
  std::string sampling;           // EncodeSampling()'s text
  std::vector<Message> messages;  // empty: not recorded, so a miss cannot be explained
  Reply reply;
};

class RecordedProvider : public Provider {
 public:
  struct Options {
    bool loose = false;
    // For records that know only a part of the agent's name ("coder" for "triton_coder_fix"), or
    // none.
    bool agent_parts = false;
    std::string name = "kerf.recorded";
    std::string source;  // the directory or file, for messages
  };

  RecordedProvider(std::vector<RecordedReply> records, Options options);

  void Ask(Request request, Done done) override;
  void Stop() override;
  [[nodiscard]] std::string name() const override { return options_.name; }
  // Records nobody asked for yet.
  [[nodiscard]] size_t unused() const;

 private:
  std::optional<size_t> FindExact(const Request& request) const;
  std::optional<size_t> FindNext(const Request& request) const;
  [[nodiscard]] Error Miss(const Request& request) const;
  [[nodiscard]] bool SameAgent(const RecordedReply& record, const Request& request) const;

  const std::vector<RecordedReply> records_;
  const Options options_;
  std::vector<std::pair<std::string, std::string>> askers_;  // distinct (model, sampling)

  mutable std::mutex mu_;
  // Guarded by mu_.
  std::vector<bool> used_;
  bool stopped_ = false;
};

}  // namespace kerf::llm

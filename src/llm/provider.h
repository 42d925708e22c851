// Asks a language model, or something that answers like one. docs/models.md lists the kinds.
//
//   provider.Ask(request, [&](Result<Reply> reply) { inbox.Post(std::move(reply)); });
//
// A Reply is whole: one that ended early is an Error, with the partial text among its attempts'
// records. Retries, limits and waiting happen inside.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/action.h"
#include "artifact/task_spec.h"
#include "artifact/verdict.h"
#include "base/result.h"

namespace kerf::llm {

struct Message {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

// What is not set is not sent.
struct Sampling {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<double> frequency_penalty;
  std::optional<double> presence_penalty;
  std::optional<int64_t> max_tokens;
  std::optional<int64_t> seed;
  std::string reasoning_effort;
};

struct Attempt;

struct Request {
  std::string agent;  // AIKG's key of who asks: "aul_designer", "coder_fix", "conductor_check"
  std::string owner;  // for the ledger and messages: "relu/0"
  std::vector<Message> messages;
  // For providers that work from the task itself (the synthesizer). Borrowed for the time of Ask().
  const TaskSpec* spec = nullptr;
  const Verdict* last = nullptr;  // of the candidate before this one; null when there is none
  ActionType action = ActionType::kDoDesigner;
  int64_t round = 0;  // how many times this action was asked for before in this task
  // Called for each try when it ends, failed ones too: an Error carries no attempts. From any
  // thread, before `done`.
  std::function<void(const Attempt&)> on_attempt;
  // Called when the next try must wait for some seconds, with the reason. From any thread.
  std::function<void(double seconds, const std::string& why)> on_wait;
};

enum class Finish { kStop, kLength, kTools, kFilter, kRefusal, kUnknown };

const char* FinishName(Finish finish);  // "stop", "length", …
// Takes what either wire says ("end_turn", "max_tokens", "tool_calls") and FinishName's words.
Finish ParseFinish(std::string_view raw);

// Totals include their parts: input_total counts what came from a cache, output_total reasoning.
struct Usage {
  int64_t input_total = 0;
  int64_t input_cache_read = 0;
  int64_t input_cache_write = 0;
  int64_t output_total = 0;
  int64_t output_reasoning = 0;
  enum class Source { kNone, kReported, kEstimated } source = Source::kNone;
};

// One try at the endpoint; a reply has at least one.
struct Attempt {
  int http_status = 0;  // 0: no answer
  std::string cause;    // empty when it succeeded
  double waited_s = 0;  // before the try
  double took_s = 0;
  Usage usage;
  std::string partial;  // what had arrived when it broke
};

struct Reply {
  std::string text;
  std::string reasoning;
  Finish finish = Finish::kUnknown;
  std::string finish_raw;
  Usage usage;                  // of the attempt that succeeded
  std::optional<int64_t> cost;  // of all attempts, in nano-dollars; nullopt: price unknown
  std::string price_version;    // of the table the cost is from
  std::string provider;         // "openai", "anthropic", "kerf.recorded", "kerf.synth"
  std::string model;            // the one that answered
  std::string request_id;       // the endpoint's
  std::string request_sha256;   // of the canonical request, which has the next two in it
  std::string asked;            // Provider::name()
  std::string sampling;         // EncodeSampling(); empty: nothing was set
  std::vector<Attempt> attempts;
  std::vector<std::string> notes;  // "parameter temperature dropped: not supported"
  double first_token_s = 0;
  double took_s = 0;
};

class Provider {
 public:
  using Done = std::function<void(Result<Reply>)>;

  virtual ~Provider() = default;
  // Calls `done` exactly once, from any thread, perhaps before Ask returns. Thread-safe.
  virtual void Ask(Request request, Done done) = 0;
  // Requests under way end soon with an error; later ones at once. Thread-safe.
  virtual void Stop() = 0;
  // What goes into the record of a step: "openai:gpt-5", "kerf.synth".
  [[nodiscard]] virtual std::string name() const = 0;
};

}  // namespace kerf::llm

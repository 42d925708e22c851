// Asks a model behind an HTTP endpoint: openai:MODEL, anthropic:MODEL.
//
// Retries, waits and limits happen inside; Reply::attempts and Reply::notes tell of them. A stream
// that ended without saying why is a failed attempt, whatever had come. The key is in no text that
// leaves: errors, attempts, notes and replies are searched for it.
//
// `done` and `on_attempt` are called from the engine's thread and must not block it.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "llm/endpoint.h"
#include "llm/http_engine.h"
#include "llm/provider.h"
#include "llm/rate_limiter.h"

namespace kerf::llm {

class HttpProvider : public Provider {
 public:
  // Shared by all providers of a process; they outlive the providers. `ids` is used from the
  // engine's thread only.
  struct Ports {
    HttpEngine& engine;
    RateLimits& limits;
    Clock& clock;
    IdSource& ids;
  };

  HttpProvider(Endpoint endpoint, Ports ports);
  // Ends what is under way and waits for its `done` calls. Not from the engine's thread.
  ~HttpProvider() override;

  void Ask(Request request, Done done) override;
  void Stop() override;
  [[nodiscard]] std::string name() const override;

 private:
  class Calls;

  const std::shared_ptr<Calls> calls_;
};

}  // namespace kerf::llm

// Where a model is asked, with which key. docs/models.md lists the variables.
#pragma once

#include <string>
#include <string_view>

#include "base/cache_dir.h"
#include "base/result.h"
#include "llm/http_engine.h"
#include "llm/model_spec.h"
#include "llm/provider.h"
#include "llm/retry_policy.h"

namespace kerf::llm {

struct Endpoint {
  ModelKind wire = ModelKind::kOpenAi;  // or kAnthropic
  std::string model;
  std::string base_url;         // without a '/' at the end
  std::string base_url_origin;  // "OPENAI_BASE_URL", "default": for messages and `config show`
  std::string key;              // empty: none is sent
  std::string key_origin;       // the variable it came from; the only thing to be shown of it
  Sampling sampling;
  std::string extra_body;  // a JSON object whose members go into each request
  HttpTimeouts timeouts;
  RetryLimits retries;
  std::string ca_file;
  std::string ca_dir;
  bool insecure = false;
};

// What the configuration says; what is empty comes from the environment.
struct EndpointConfig {
  std::string base_url;
  std::string key_variable;  // AIKG's api_key_env
  Sampling sampling;
  std::string extra_body;
};

// kInvalidInput when the URL is none, kUnavailable when a vendor needs a key and there is none; the
// message names the variable.
Result<Endpoint> ResolveEndpoint(const ModelSpec& spec, const EndpointConfig& config,
                                 const GetVariable& variable = ProcessVariable);

// Without user, password, query and fragment: fit to be shown.
std::string ShownUrl(std::string_view url);

// Replaces the key, however JSON would write it, and what is left of it in a server's words
// ("sk-ab***yz"), by [REDACTED:NAME].
std::string RedactKey(std::string text, const Endpoint& endpoint);

}  // namespace kerf::llm

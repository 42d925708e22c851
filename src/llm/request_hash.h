// What makes two requests the same: the model as a step records it, the messages and the sampling.
// Not: who asks, stream flags, ids, times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/provider.h"

namespace kerf::llm {

// {"max_tokens":…,"temperature":…}: keys sorted, what is not set left out.
std::string EncodeSampling(const Sampling& sampling);
// Reads what EncodeSampling writes; "" is nothing set.
Result<Sampling> DecodeSampling(std::string_view json);

// {"messages":[{"content","role"}…],"model":…,"sampling":{…}}: one line, keys sorted. `model` is
// Provider::name().
std::string CanonicalRequest(std::string_view model, const std::vector<Message>& messages,
                             const Sampling& sampling);
std::string RequestSha256(std::string_view model, const std::vector<Message>& messages,
                          const Sampling& sampling);

// Tokens of the messages, from their size: some three bytes to a token in English, code and
// Chinese, rounded up, with a few for each message's frame. Meant to be too high rather than too
// low.
int64_t EstimateTokens(const std::vector<Message>& messages);
int64_t EstimateTokens(std::string_view text);

}  // namespace kerf::llm

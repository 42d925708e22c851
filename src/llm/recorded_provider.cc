#include "llm/recorded_provider.h"

#include <algorithm>
#include <utility>

#include "llm/code_repair.h"
#include "llm/request_hash.h"

namespace kerf::llm {
namespace {

size_t CommonPrefix(const std::string& a, const std::string& b) {
  const auto [at, ignored] =
      std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin());
  return static_cast<size_t>(at - a.begin());
}

bool SameMessages(const std::vector<Message>& a, const std::vector<Message>& b) {
  return !a.empty() &&
         std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Message& x, const Message& y) {
           return x.role == y.role && x.content == y.content;
         });
}

// How far two conversations are the same, in bytes.
size_t Sameness(const std::vector<Message>& a, const std::vector<Message>& b) {
  size_t same = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].role != b[i].role) return same;
    same += CommonPrefix(a[i].content, b[i].content) + 1;
    if (a[i].content != b[i].content) return same;
  }
  return same;
}

std::string Excerpt(const std::string& text, size_t at) {
  std::string part = text.substr(at, 40);
  std::replace_if(
      part.begin(), part.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  std::vector<std::string> ignored;
  return at >= text.size() ? "its end" : "'" + CleanText(part, ignored) + "'";
}

// "messages[1].content differs at byte 120: recorded 'a', asked 'b'"
std::string FirstDifference(const RecordedReply& record, const std::vector<Message>& asked) {
  if (record.messages.empty()) return "its messages were not recorded";
  for (size_t i = 0; i < std::min(record.messages.size(), asked.size()); ++i) {
    const Message& was = record.messages[i];
    const Message& is = asked[i];
    const std::string field = "messages[" + std::to_string(i) + "]";
    if (was.role != is.role) {
      return field + ".role differs: recorded '" + was.role + "', asked '" + is.role + "'";
    }
    if (was.content == is.content) continue;
    const size_t at = CommonPrefix(was.content, is.content);
    return field + ".content differs at byte " + std::to_string(at) + ": recorded " +
           Excerpt(was.content, at) + ", asked " + Excerpt(is.content, at);
  }
  if (record.messages.size() != asked.size()) {
    return "it has " + std::to_string(record.messages.size()) + " messages, asked are " +
           std::to_string(asked.size());
  }
  return "its messages are the same, but it was used already";
}

}  // namespace

RecordedProvider::RecordedProvider(std::vector<RecordedReply> records, Options options)
    : records_(std::move(records)), options_(std::move(options)), used_(records_.size()) {
  for (const RecordedReply& record : records_) {
    std::pair<std::string, std::string> asker = {record.model, record.sampling};
    if (std::find(askers_.begin(), askers_.end(), asker) == askers_.end()) {
      askers_.push_back(std::move(asker));
    }
  }
}

bool RecordedProvider::SameAgent(const RecordedReply& record, const Request& request) const {
  if (record.agent == request.agent) return true;
  return options_.agent_parts && request.agent.find(record.agent) != std::string::npos;
}

// The request does not say which model is asked: each one that was recorded is tried.
std::optional<size_t> RecordedProvider::FindExact(const Request& request) const {
  std::vector<std::string> hashes;
  for (const auto& [model, sampling_text] : askers_) {
    const Result<Sampling> sampling = DecodeSampling(sampling_text);
    if (sampling.ok()) hashes.push_back(RequestSha256(model, request.messages, *sampling));
  }
  std::optional<size_t> found;
  for (size_t i = 0; i < records_.size(); ++i) {
    const RecordedReply& record = records_[i];
    const bool same =
        std::find(hashes.begin(), hashes.end(), record.request_sha256) != hashes.end() ||
        SameMessages(record.messages, request.messages);
    if (used_[i] || !same) continue;
    if (record.owner == request.owner) return i;
    if (!found.has_value()) found = i;
  }
  return found;
}

std::optional<size_t> RecordedProvider::FindNext(const Request& request) const {
  std::optional<size_t> found;
  for (size_t i = 0; i < records_.size(); ++i) {
    if (used_[i] || !SameAgent(records_[i], request)) continue;
    if (records_[i].owner == request.owner) return i;
    if (!found.has_value()) found = i;
  }
  return found;
}

Error RecordedProvider::Miss(const Request& request) const {
  const std::string what = (options_.source.empty() ? options_.name : options_.source) +
                           ": no recorded reply for agent '" + request.agent + "' of " +
                           request.owner;
  if (records_.empty()) return NotFound(what + "; nothing is recorded there");
  const RecordedReply* nearest = nullptr;
  size_t nearest_rank = 0;
  for (size_t i = 0; i < records_.size(); ++i) {
    // Unused ones of the same agent first, then the longest common beginning.
    const size_t rank = Sameness(records_[i].messages, request.messages) +
                        (SameAgent(records_[i], request) ? size_t{1} << 40 : 0) +
                        (used_[i] ? 0 : size_t{1} << 41);
    if (nearest != nullptr && rank <= nearest_rank) continue;
    nearest = &records_[i];
    nearest_rank = rank;
  }
  return NotFound(what + "; the nearest is " + nearest->where + " (agent '" + nearest->agent +
                  "'): " + FirstDifference(*nearest, request.messages));
}

void RecordedProvider::Ask(Request request, Done done) {
  std::optional<size_t> index;
  std::optional<Error> error;
  bool exact = true;
  {
    const std::lock_guard lock(mu_);
    if (stopped_) {
      error = Unavailable("stopped");
    } else {
      index = FindExact(request);
      exact = index.has_value();
      if (!exact && options_.loose) index = FindNext(request);
      if (!index.has_value()) {
        error = Miss(request);
      } else {
        used_[*index] = true;
      }
    }
  }
  if (error.has_value()) return done(*std::move(error));
  const RecordedReply& record = records_[*index];
  Reply reply = record.reply;
  reply.provider = options_.name;
  reply.request_sha256 = record.request_sha256;
  if (!exact) {
    reply.request_sha256 = RequestSha256(options_.name, request.messages, {});
    reply.notes.push_back("taken in order from " + record.where + ", not by its request");
  }
  if (reply.attempts.empty()) reply.attempts.push_back({.usage = reply.usage});
  if (request.on_attempt) {
    for (const Attempt& attempt : reply.attempts) request.on_attempt(attempt);
  }
  done(std::move(reply));
}

void RecordedProvider::Stop() {
  const std::lock_guard lock(mu_);
  stopped_ = true;
}

size_t RecordedProvider::unused() const {
  const std::lock_guard lock(mu_);
  return static_cast<size_t>(std::count(used_.begin(), used_.end(), false));
}

}  // namespace kerf::llm

// The facts of a step that its files do not say, as JSON. docs/loop.md, "Records".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "artifact/verdict.h"
#include "base/json_writer.h"
#include "llm/prompt_library.h"
#include "llm/provider.h"

namespace kerf::conduct {

// Members that somebody else's records have besides these: names and JSON values.
using MoreFacts = std::vector<std::pair<std::string, std::string>>;

struct AskFacts {
  std::string agent;
  std::string model;  // as the user named it; the reply tells which one answered
  llm::Prompt prompt;
  std::string because;
  std::string task_sha256;
  std::vector<std::string> repairs;  // what the reply parser did
  MoreFacts more;
};

// One try at an endpoint, as an object.
void WriteAttempt(JsonWriter& json, const llm::Attempt& attempt);

std::string ReplyMeta(const AskFacts& facts, const llm::Reply& reply);

struct JudgeFacts {
  std::string device;
  std::string verify_dir;
  std::string because;
  std::string task_sha256;
  std::string measurement;  // in words, for later prompts
  MoreFacts more;
};

std::string VerdictMeta(const JudgeFacts& facts, const Verdict& verdict);

// The measurement as a document for the record's profile; empty when nothing was measured.
std::string ProfileJson(const Verdict& verdict);
// The same in words for a prompt.
std::string MeasurementText(const Verdict& verdict);

}  // namespace kerf::conduct

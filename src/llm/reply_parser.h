// Takes out of a model's reply what was asked for, and says what it had to put right.
//
//   ParsedReply parsed = ParseCode(reply.text, LanguageOf(spec.impl));
//   if (!parsed.ok()) AskAgain(parsed.complaint);
//
// The rule: the last object that fits the schema wins, wherever it stands; without one, the last
// fenced block (or <code> element) in the right language that defines something, else the longest;
// else the code an object holds under another name; else the whole text when it is nothing but
// code. What was cut off is never taken for whole: `truncated` is set and the complaint says so.
// Texts in, texts out: nothing here fails otherwise.
// test/data/replies holds the replies it was made for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/candidate.h"
#include "llm/provider.h"

namespace kerf::llm {

enum class CodeLanguage { kAny, kAul, kCpp, kPython };

// kAny for torch_ext, which is C++ or the Python that compiles it.
CodeLanguage LanguageOf(Impl impl);

struct ParsedReply {
  std::string code;
  std::string description;
  std::string form;  // how the code was sent: "json", "block", "bare"
  std::vector<std::string> repairs;
  // Empty when the code can be used; else what to tell the model, in whole sentences.
  std::string complaint;
  bool truncated = false;

  [[nodiscard]] bool ok() const { return complaint.empty(); }
};

// {"code": …, "description": …}. When the model ended by itself, a last block without its closing
// fence is whole all the same; when a limit ended it, nothing is, whatever it looks like.
ParsedReply ParseCode(std::string_view reply, CodeLanguage language,
                      Finish finish = Finish::kUnknown);

struct ParsedCheck {
  int64_t result = 0;
  std::string reason;
  std::string suggestions;
  std::vector<std::string> repairs;
  std::string complaint;
  bool truncated = false;

  [[nodiscard]] bool ok() const { return complaint.empty(); }
};

// {"result": …, "reason": …, "suggestions": …}; `allowed` are the results that mean something:
// 0 and 1 for a check, 1 and 2 for the analysis of an error.
ParsedCheck ParseCheck(std::string_view reply, const std::vector<int64_t>& allowed = {0, 1},
                       Finish finish = Finish::kUnknown);

// What to tell a model whose reply was ended from outside; nullptr when it was not.
const char* CutComplaint(Finish finish);

}  // namespace kerf::llm

// Keeps credentials out of every file. docs/formats/trace.md section 5.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/step.h"
#include "base/result.h"
#include "base/text.h"

namespace kerf::trace {

// Whether a variable or key of this name is likely to hold a credential: OPENAI_API_KEY,
// github-token, "password" …
bool LooksLikeCredentialName(std::string_view name);

class Redactor {
 public:
  // Finds nothing.
  Redactor();
  ~Redactor();
  Redactor(Redactor&&) noexcept;
  Redactor& operator=(Redactor&&) noexcept;

  // Takes the values of credential-like variables from "NAME=value" entries, such as ::environ.
  void AddEnvironment(const std::vector<std::string>& entries);
  void AddSecret(const std::string& name, const std::string& value);
  // RE2 syntax; refuses a pattern that is not valid or that matches the empty string.
  Status AddPattern(const std::string& pattern);

  using Counts = std::map<std::string, int64_t>;

  // Replaces what must not be stored and counts it. Returns whether anything changed.
  bool Redact(std::string& text, Counts& counts) const;
  bool Redact(Text& text, Counts& counts) const;
  // The same for every string in a JSON text; strings under credential-like keys go whole. Refuses
  // what is no JSON object.
  Result<std::string> RedactMeta(const std::string& meta, Counts& counts) const;

 private:
  struct Secret {
    std::string name;
    std::string value;
  };
  struct Pattern;

  [[nodiscard]] bool Finds(std::string_view text) const;

  std::vector<Secret> secrets_;
  std::vector<std::unique_ptr<Pattern>> patterns_;
};

std::vector<RedactionNote> ToNotes(const Redactor::Counts& counts);

}  // namespace kerf::trace

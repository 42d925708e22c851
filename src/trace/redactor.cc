#include "trace/redactor.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_reader.h"

namespace kerf::trace {
namespace {

// A shorter value would be found inside ordinary words and destroy the text; it is no credential
// worth the name either.
constexpr size_t kShortestSecret = 6;

constexpr std::array<std::string_view, 16> kCredentialWords = {
    "key",      "apikey", "token",         "tokens",     "secret", "secrets",
    "password", "passwd", "passphrase",    "credential", "pat",    "credentials",
    "bearer",   "cookie", "authorization", "auth"};

// "OPENAI_API_KEY", "x-api-key", "apiKey" → lower-case words.
std::vector<std::string> SplitWords(std::string_view name) {
  std::vector<std::string> words(1);
  bool after_lower = false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0) {
      words.emplace_back();
      after_lower = false;
      continue;
    }
    if (after_lower && std::isupper(byte) != 0) words.emplace_back();
    after_lower = std::islower(byte) != 0;
    words.back() += static_cast<char>(std::tolower(byte));
  }
  return words;
}

// The text of a JSON string without its quotes: how a secret looks inside an embedded request body.
// `ascii`: with everything beyond ASCII escaped, as Python's json does.
std::string JsonEscaped(const std::string& value, bool ascii) {
  nlohmann::json text = value;
  const std::string quoted = text.dump(-1, ' ', ascii, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

// How a secret may be written: as it is, and inside JSON, and inside JSON inside JSON.
std::set<std::string> Spellings(const std::string& value) {
  std::set<std::string> spellings = {value};
  for (int level = 0; level < 2; ++level) {
    const std::set<std::string> before = spellings;
    for (const std::string& spelling : before) {
      spellings.insert(JsonEscaped(spelling, false));
      spellings.insert(JsonEscaped(spelling, true));
    }
  }
  return spellings;
}

int64_t ReplaceAll(std::string& text, const std::string& needle, const std::string& mark) {
  size_t at = text.find(needle);
  if (at == std::string::npos) return 0;
  int64_t count = 0;
  std::string out;
  size_t from = 0;
  for (; at != std::string::npos; at = text.find(needle, from)) {
    out.append(text, from, at - from);
    out += mark;
    from = at + needle.size();
    ++count;
  }
  out.append(text, from);
  text = std::move(out);
  return count;
}

// Whether a match can be empty: it would then put a mark between any two characters. \b is the one
// expression that is empty inside a text only, so a word has to be tried too.
bool MatchesNothing(const RE2& expression) {
  for (const re2::StringPiece text : {re2::StringPiece(""), re2::StringPiece("a")}) {
    re2::StringPiece match;
    for (size_t from = 0; from <= text.size(); ++from) {
      if (expression.Match(text, from, text.size(), RE2::UNANCHORED, &match, 1) && match.empty()) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

struct Redactor::Pattern {
  Pattern(const std::string& source, std::string label)
      : expression(source, Options()), name(std::move(label)) {}
  static RE2::Options Options() {
    RE2::Options options(RE2::Quiet);
    // Bytes, not characters: texts need not be UTF-8.
    options.set_encoding(RE2::Options::EncodingLatin1);
    return options;
  }
  RE2 expression;
  std::string name;
};

bool LooksLikeCredentialName(std::string_view name) {
  const std::vector<std::string> words = SplitWords(name);
  // "tokens" alone is a count, as in {"tokens":{"input":10}} or MAX_TOKENS.
  if (words.back() == "tokens") return false;
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return std::find(kCredentialWords.begin(), kCredentialWords.end(), word) !=
           kCredentialWords.end();
  });
}

Redactor::Redactor() = default;
Redactor::~Redactor() = default;
Redactor::Redactor(Redactor&&) noexcept = default;
Redactor& Redactor::operator=(Redactor&&) noexcept = default;

void Redactor::AddEnvironment(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    if (LooksLikeCredentialName(name)) AddSecret(name, entry.substr(equals + 1));
  }
}

void Redactor::AddSecret(const std::string& name, const std::string& value) {
  if (value.size() < kShortestSecret) return;
  for (const std::string& spelling : Spellings(value)) secrets_.push_back({name, spelling});
  // Longest first: a secret that contains another must not be left half replaced.
  std::stable_sort(secrets_.begin(), secrets_.end(), [](const Secret& a, const Secret& b) {
    return a.value.size() > b.value.size();
  });
}

Status Redactor::AddPattern(const std::string& pattern) {
  auto added =
      std::make_unique<Pattern>(pattern, "pattern " + std::to_string(patterns_.size() + 1));
  if (!added->expression.ok()) {
    return InvalidInput("--redact '" + pattern +
                        "' is not a valid pattern: " + added->expression.error() + " (RE2 syntax)");
  }
  if (MatchesNothing(added->expression)) {
    return InvalidInput("--redact '" + pattern + "' matches the empty text; make it stricter");
  }
  patterns_.push_back(std::move(added));
  return {};
}

bool Redactor::Redact(std::string& text, Counts& counts) const {
  bool changed = false;
  for (const Secret& secret : secrets_) {
    const int64_t count = ReplaceAll(text, secret.value, "[REDACTED:" + secret.name + "]");
    if (count > 0) {
      counts[secret.name] += count;
      changed = true;
    }
  }
  for (const auto& pattern : patterns_) {
    const int count =
        RE2::GlobalReplace(&text, pattern->expression, "[REDACTED:" + pattern->name + "]");
    if (count > 0) {
      counts[pattern->name] += count;
      changed = true;
    }
  }
  return changed;
}

bool Redactor::Finds(std::string_view text) const {
  return std::any_of(secrets_.begin(), secrets_.end(),
                     [&](const Secret& secret) {
                       return text.find(secret.value) != std::string_view::npos;
                     }) ||
         std::any_of(patterns_.begin(), patterns_.end(), [&](const auto& pattern) {
           return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()),
                                    pattern->expression);
         });
}

// Most texts hold nothing: they need no copy.
bool Redactor::Redact(Text& text, Counts& counts) const {
  return Finds(text.view()) && Redact(text.Own(), counts);
}

namespace {

using Json = nlohmann::ordered_json;

void RedactValue(const Redactor& redactor, Json& value, bool credential, const std::string& key,
                 Redactor::Counts& counts) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    if (credential && !text.empty()) {
      text = "[REDACTED:" + key + "]";
      ++counts[key];
    } else {
      redactor.Redact(text, counts);
    }
    return;
  }
  if (value.is_array()) {
    for (Json& element : value) RedactValue(redactor, element, credential, key, counts);
    return;
  }
  if (!value.is_object()) return;
  Json cleaned = Json::object();
  for (auto& [name, member] : value.items()) {
    // The name goes into marks and notes, so it is cleaned first.
    std::string clean_name = name;
    redactor.Redact(clean_name, counts);
    RedactValue(redactor, member, credential || LooksLikeCredentialName(name), clean_name, counts);
    cleaned[clean_name] = std::move(member);
  }
  value = std::move(cleaned);
}

// Most metas are short names, short words and whole numbers without spaces. Such a text is its own
// dump, and one look at it tells whether a key is like a credential's.
class PlainMeta {
 public:
  explicit PlainMeta(std::string_view text) : text_(text) {}

  bool Holds() { return Object(1) && at_ == text_.size(); }

 private:
  static constexpr int kMaxDepth = 4;
  static constexpr size_t kMaxMembers = 24;
  static constexpr size_t kMaxDigits = 15;

  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool Object(int depth) {
    if (depth > kMaxDepth || !Take('{')) return false;
    if (Take('}')) return true;
    std::array<std::string_view, kMaxMembers> names;
    for (size_t members = 0; members < kMaxMembers; ++members) {
      std::string_view& name = names[members];
      if (!String(name) || LooksLikeCredentialName(name)) return false;
      auto* const end = names.begin() + members;
      if (std::find(names.begin(), end, name) != end) return false;
      if (!Take(':') || !Value(depth)) return false;
      if (Take('}')) return true;
      if (!Take(',')) return false;
    }
    return false;
  }

  bool Value(int depth) {
    if (at_ == text_.size()) return false;
    std::string_view ignored;
    if (text_[at_] == '{') return Object(depth + 1);
    if (text_[at_] == '"') return String(ignored);
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return true;
    }
    return Number();
  }

  bool String(std::string_view& out) {
    if (!Take('"')) return false;
    const size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] < ' ' || text_[at_] > '~' || text_[at_] == '\\') return false;
    }
    out = text_.substr(begin, at_ - begin);
    return Take('"');
  }

  bool Number() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    const size_t digits = at_ - begin;
    return digits == 1 || (digits > 1 && digits <= kMaxDigits && text_[begin] != '0');
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::string> Redactor::RedactMeta(const std::string& meta, Counts& counts) const {
  // A pattern may match a string of the meta and not the whole.
  if (patterns_.empty() && !Finds(meta) && PlainMeta(meta).Holds()) return meta;
  // The document's own functions recurse; the reader bounds the depth first.
  JsonReader reader(meta);
  const bool well_formed = reader.Skip() && reader.Finish();
  Json document;
  if (well_formed) document = Json::parse(meta, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return InvalidInput(
        "meta is not a valid JSON object in UTF-8 (NaN, Infinity, lone surrogates and numbers "
        "beyond a "
        "double are not JSON; use null or a string)");
  }
  RedactValue(*this, document, false, "", counts);
  return document.dump();
}

std::vector<RedactionNote> ToNotes(const Redactor::Counts& counts) {
  std::vector<RedactionNote> notes;
  notes.reserve(counts.size());
  for (const auto& [what, count] : counts) notes.push_back({what, count});
  return notes;
}

}  // namespace kerf::trace

#include "trace/full_text.h"

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/utf8.h"

namespace kerf::trace {
namespace {

// Words between the first and the last one of an excerpt, at most.
constexpr int kWindowWords = 20;
// A place among the first this many occurrences is good enough.
constexpr int kMaxOccurrences = 2000;

using TokenCallback = int (*)(void*, int, const char*, int, int, int);

Result<fts5_api*> FullTextApi(Database& database) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database.handle(), "SELECT fts5(?1)", -1, &statement, nullptr) ==
      SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  if (api == nullptr) return Unavailable("the SQLite in this kerf has no full-text search (FTS5)");
  return api;
}

bool IsUnspaced(char32_t c) {
  return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x31F0 && c <= 0x31FF) ||
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x3FFFD);
}

// Cuts the words that unicode61 finds at unspaced characters.
class WordCutter {
 public:
  WordCutter(void* context, TokenCallback callback) : context_(context), callback_(callback) {}

  static int OnToken(void* self, int flags, const char* token, int size, int begin, int end) {
    const std::string_view text(token, static_cast<size_t>(size));
    const bool ascii = std::all_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<signed char>(c) >= 0; });
    auto* cutter = static_cast<WordCutter*>(self);
    return ascii ? cutter->callback_(cutter->context_, flags, token, size, begin, end)
                 : cutter->Cut(flags, text, begin, end);
  }

 private:
  int Cut(int flags, std::string_view token, int begin, int end) {
    // Folding may have changed the length; then every piece is given the place of the whole.
    same_length_ = token.size() == static_cast<size_t>(end - begin);
    size_t piece = 0;
    size_t at = 0;
    int code = SQLITE_OK;
    while (at < token.size() && code == SQLITE_OK) {
      const Utf8Char c = DecodeUtf8(token.substr(at));
      if (c.valid && IsUnspaced(c.value)) {
        if (at > piece) code = Emit(flags, token, piece, at, begin, end);
        if (code == SQLITE_OK) code = Emit(flags, token, at, at + c.length, begin, end);
        piece = at + c.length;
      }
      at += c.length;
    }
    if (code == SQLITE_OK && piece < token.size()) {
      code = Emit(flags, token, piece, token.size(), begin, end);
    }
    return code;
  }

  int Emit(int flags, std::string_view token, size_t from, size_t to, int begin, int end) {
    return callback_(context_, flags, token.data() + from, static_cast<int>(to - from),
                     same_length_ ? begin + static_cast<int>(from) : begin,
                     same_length_ ? begin + static_cast<int>(to) : end);
  }

  void* const context_;
  const TokenCallback callback_;
  bool same_length_ = true;
};

struct Unicode61 {
  fts5_tokenizer methods{};
  Fts5Tokenizer* instance = nullptr;

  ~Unicode61() {
    if (instance != nullptr) methods.xDelete(instance);
  }
  int Create(fts5_api* api) {
    void* context = nullptr;
    const int code = api->xFindTokenizer(api, "unicode61", &context, &methods);
    return code == SQLITE_OK ? methods.xCreate(context, nullptr, 0, &instance) : code;
  }
  int Walk(void* context, int flags, const char* text, int size, TokenCallback callback) {
    WordCutter cutter(context, callback);
    return methods.xTokenize(instance, &cutter, flags, text, size, WordCutter::OnToken);
  }
};

int CreateTokenizer(void* api, const char**, int, Fts5Tokenizer** out) {
  auto tokenizer = std::make_unique<Unicode61>();
  const int code = tokenizer->Create(static_cast<fts5_api*>(api));
  if (code == SQLITE_OK) *out = reinterpret_cast<Fts5Tokenizer*>(tokenizer.release());
  return code;
}

void DeleteTokenizer(Fts5Tokenizer* tokenizer) { delete reinterpret_cast<Unicode61*>(tokenizer); }

int Tokenize(Fts5Tokenizer* tokenizer, void* context, int flags, const char* text, int size,
             TokenCallback callback) {
  return reinterpret_cast<Unicode61*>(tokenizer)->Walk(context, flags, text, size, callback);
}

struct Occurrence {
  int phrase = 0;
  int column = 0;
  int word = 0;
};

std::vector<Occurrence> Occurrences(const Fts5ExtensionApi* api, Fts5Context* context,
                                    int columns) {
  std::vector<Occurrence> all;
  int count = 0;
  if (api->xInstCount(context, &count) != SQLITE_OK) return all;
  for (int i = 0; i < count && all.size() < kMaxOccurrences; ++i) {
    Occurrence one;
    if (api->xInst(context, i, &one.phrase, &one.column, &one.word) != SQLITE_OK) break;
    if (one.column < columns) all.push_back(one);
  }
  return all;
}

// One past the last occurrence that is close enough to the one at `begin`.
size_t WindowEnd(const std::vector<Occurrence>& all, size_t begin) {
  size_t end = begin;
  while (end < all.size() && all[end].column == all[begin].column &&
         all[end].word - all[begin].word < kWindowWords) {
    ++end;
  }
  return end;
}

size_t BestWindow(const std::vector<Occurrence>& all) {
  size_t best = 0;
  int best_score = -1;
  for (size_t begin = 0; begin < all.size(); ++begin) {
    uint64_t phrases = 0;
    const size_t end = WindowEnd(all, begin);
    for (size_t i = begin; i < end; ++i) phrases |= uint64_t{1} << (all[i].phrase % 64);
    const int score = std::popcount(phrases);
    if (score > best_score) {
      best_score = score;
      best = begin;
    }
  }
  return best;
}

void MatchFunction(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* result,
                   int count, sqlite3_value** values) {
  const int columns = count > 0 ? sqlite3_value_int(values[0]) : 0;
  const std::vector<Occurrence> all = Occurrences(api, context, columns);
  if (all.empty()) {
    sqlite3_result_text(result, "", 0, SQLITE_STATIC);
    return;
  }
  const size_t begin = BestWindow(all);
  std::string text = std::to_string(all[begin].column);
  for (size_t i = begin; i < WindowEnd(all, begin); ++i) {
    text += " " + std::to_string(all[i].word) + " " +
            std::to_string(api->xPhraseSize(context, all[i].phrase));
  }
  sqlite3_result_text64(result, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace

Status InstallFullText(Database& database) {
  KERF_ASSIGN_OR_RETURN(fts5_api * api, FullTextApi(database));
  fts5_tokenizer tokenizer{CreateTokenizer, DeleteTokenizer, Tokenize};
  if (api->xCreateTokenizer(api, "kerf", api, &tokenizer, nullptr) != SQLITE_OK ||
      api->xCreateFunction(api, "kerf_match", nullptr, MatchFunction, nullptr) != SQLITE_OK) {
    return Unavailable("SQLite refused kerf's tokenizer");
  }
  return {};
}

MatchPlace ParseMatchPlace(const std::string& text) {
  std::vector<int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = next + 1;
  }
  MatchPlace place;
  if (numbers.empty()) return place;
  place.column = static_cast<int>(numbers[0]);
  for (size_t i = 1; i + 1 < numbers.size(); i += 2) {
    place.words.push_back({numbers[i], numbers[i + 1]});
  }
  return place;
}

struct Words::Splitter : Unicode61 {};

Result<Words> Words::Create(Database& database) {
  KERF_ASSIGN_OR_RETURN(fts5_api * api, FullTextApi(database));
  auto splitter = std::make_shared<Splitter>();
  if (splitter->Create(api) != SQLITE_OK) return Unavailable("SQLite has no unicode61 tokenizer");
  return Words(std::move(splitter));
}

void Words::Walk(std::string_view text, const Each& each) const {
  const auto callback = [](void* context, int, const char* word, int size, int begin, int end) {
    const bool more =
        (*static_cast<const Each*>(context))(static_cast<size_t>(begin), static_cast<size_t>(end),
                                             std::string_view(word, static_cast<size_t>(size)));
    return more ? SQLITE_OK : SQLITE_DONE;
  };
  splitter_->Walk(const_cast<void*>(static_cast<const void*>(&each)), FTS5_TOKENIZE_DOCUMENT,
                  text.data(), static_cast<int>(text.size()), callback);
}

}  // namespace kerf::trace

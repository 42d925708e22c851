#include "trace/search.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "trace/excerpt.h"
#include "trace/full_text.h"

namespace kerf::trace {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;

// Whether FTS5 understands it. One row that cannot exist is asked for, so that nothing is searched.
Result<bool> IsQuery(Database& database, const std::string& expression) {
  // '*' at the front asks FTS5 about itself.
  if (expression.empty() || expression[0] == '*') return false;
  KERF_ASSIGN_OR_RETURN(Statement select,
                        database.Prepare("SELECT 1 FROM text WHERE text MATCH ?1 AND rowid = -1"));
  select.Bind(1, expression);
  const Result<bool> row = select.Step();
  if (row.ok()) return true;
  if (row.error().code == ErrorCode::kInvalidInput) return false;
  return row.error();
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }

// Every word between white space as a phrase of its own: "tl.load(x)" finds tl, load and x next to
// each other.
std::string PlainWords(const Words& words, const std::string& text) {
  std::string expression;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && !IsSpace(text[end])) ++end;
    std::string phrase;
    for (const char c : text.substr(at, end - at)) phrase += c == '"' ? ' ' : c;
    bool has_word = false;
    words.Walk(phrase, [&](size_t, size_t, std::string_view) {
      has_word = true;
      return false;
    });
    if (has_word) expression += (expression.empty() ? "\"" : " \"") + phrase + "\"";
    at = end + 1;
  }
  return expression;
}

std::string Trimmed(const std::string& text) {
  size_t begin = 0;
  size_t end = text.size();
  while (begin < end && IsSpace(text[begin])) ++begin;
  while (end > begin && IsSpace(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

Result<std::string> Expression(Database& database, const Words& words,
                               const SearchRequest& request) {
  std::string expression = Trimmed(request.query);
  std::replace(expression.begin(), expression.end(), '\0', ' ');
  const std::string plain = PlainWords(words, expression);
  if (plain.empty()) {
    return InvalidInput("nothing to search for in '" + request.query +
                        "'; a query needs a letter or a digit");
  }
  // FTS5's sign for the first word of a text stands in code far more often than it is meant.
  const bool has_sign = expression.find('^') != std::string::npos;
  KERF_ASSIGN_OR_RETURN(bool valid, IsQuery(database, has_sign ? "" : expression));
  if (!valid) {
    expression = plain;
    KERF_ASSIGN_OR_RETURN(valid, IsQuery(database, expression));
    if (!valid) return InvalidInput("the query is too long; use fewer words");
  }
  expression = "{result log reasoning prompt} : (" + expression + ")";
  const auto add = [&](char what, std::string_view value) {
    if (value.empty()) return;
    expression += std::string(" AND ") + kFacetColumn + " : " + FacetWord(what, value);
  };
  add('o', request.op);
  add('t', request.task);
  add('a', request.action);
  if (request.verdict.has_value()) add('v', VerificationName(*request.verdict));
  if (request.kind.has_value()) add('k', RecordKindName(*request.kind));
  return expression;
}

SearchHit ReadHit(const Statement& row, const std::string& run) {
  SearchHit hit;
  hit.run = run;
  hit.op = row.Text(0);
  hit.step.task = row.Text(1);
  hit.step.step = row.Int(2);
  hit.step.kind = static_cast<RecordKind>(row.Int(3));
  hit.step.action = row.Text(4);
  hit.step.check = row.Text(5);
  hit.step.attempt = row.Int(6);
  hit.step.verification = static_cast<Verification>(row.Int(7));
  if (row.Int(8) > 0) hit.step.time = FormatUtc(row.Int(8) * 1000);
  hit.step.names = row.Text(9);
  for (std::string& name : SplitNames(row.Text(10))) hit.step.files.push_back({name, 0, "", ""});
  hit.step.journaled = row.Int(11) != 0;
  hit.rank = row.Real(12);
  return hit;
}

// The joins are CROSS so that the full-text table leads: it gives the rows in the order asked for,
// and the limit ends the search.
constexpr char kSelect[] =
    "SELECT o.name, s.task, s.step, s.kind, s.action, s.check_name, s.attempt, s.verification,"
    " s.time_us, s.names, s.files, s.journaled, ";
constexpr char kFrom[] =
    ", kerf_match(text, 4) FROM text CROSS JOIN step s ON s.id = text.rowid"
    " CROSS JOIN op o ON o.id = s.op WHERE text MATCH ?1 AND text.rowid >= ?2 AND text.rowid <= ?3"
    " AND s.time_us >= ?4 AND s.time_us <= ?5 ORDER BY ";

std::string Sql(SearchOrder order) {
  const bool best = order == SearchOrder::kBestFirst;
  return std::string(kSelect) + (best ? "text.rank" : "0.0") + kFrom +
         (best ? "text.rank" : "text.rowid DESC") + " LIMIT ?6";
}

}  // namespace

Result<SearchPage> Search(TraceIndex& index, const SearchRequest& request) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  Database& database = index.store().database();
  KERF_ASSIGN_OR_RETURN(const Words words, Words::Create(database));
  KERF_ASSIGN_OR_RETURN(const std::string expression, Expression(database, words, request));
  KERF_ASSIGN_OR_RETURN(Statement select, database.Prepare(Sql(request.order)));
  const int64_t since_us = request.since_ns.has_value() ? *request.since_ns / 1000 : 0;
  const int64_t until_us = request.until_ns.has_value() ? *request.until_ns / 1000 : kMax;
  int64_t last_id = kMax;
  if (request.until_ns.has_value()) {
    KERF_ASSIGN_OR_RETURN(last_id, index.store().LastId(until_us));
  }
  select.Bind(1, expression).Bind(2, IndexStore::FirstId(since_us)).Bind(3, last_id);
  select.Bind(4, since_us).Bind(5, until_us).Bind(6, std::min(request.limit, kMax - 1) + 1);
  const SoughtWords sought(words, request.query);
  SearchPage page;
  for (;;) {
    KERF_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) break;
    if (static_cast<int64_t>(page.hits.size()) == request.limit) {
      page.more = true;
      break;
    }
    SearchHit hit = ReadHit(select, index.run_path());
    std::vector<std::string> names;
    for (const StepFile& file : hit.step.files) names.push_back(file.name);
    AddExcerpt(index.fs(), words, sought, JoinPath(index.run_path(), hit.op), names,
               ParseMatchPlace(select.Text(13)), hit);
    page.hits.push_back(std::move(hit));
  }
  SortHits(page.hits, request.order);
  return page;
}

void SortHits(std::vector<SearchHit>& hits, SearchOrder order) {
  std::stable_sort(hits.begin(), hits.end(), [order](const SearchHit& a, const SearchHit& b) {
    return order == SearchOrder::kBestFirst ? a.rank < b.rank : a.step.time > b.step.time;
  });
}

std::optional<int64_t> ParseMoment(const std::string& text, int64_t now_ns, bool at_end) {
  constexpr int64_t kDay = 86400;
  if (const std::optional<int64_t> moment = ParseUtc(text)) {
    const bool day_only = text.find(':') == std::string::npos;
    const bool has_fraction = text.find('.') != std::string::npos;
    if (!at_end || has_fraction) return *moment;
    return *moment + (day_only ? kDay : 1) * kNanosPerSecond - 1;
  }
  int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || count < 0 || unit + 1 != end) return std::nullopt;
  constexpr std::string_view kUnits = "smhdw";
  constexpr int64_t kSeconds[] = {1, 60, 3600, kDay, 7 * kDay};
  const size_t which = kUnits.find(*unit);
  if (which == std::string_view::npos) return std::nullopt;
  // Further back than the epoch is as good as the epoch.
  const int64_t limit = now_ns / kNanosPerSecond / kSeconds[which];
  return now_ns - std::min(count, limit) * kSeconds[which] * kNanosPerSecond;
}

}  // namespace kerf::trace

// Launches are found by `<<<`, which is nothing else in C++ (`operator<<<T>` aside). The kernel's
// name is read backwards from there, the configuration and the arguments forwards.
#include "loop/verify/launch_rewrite.h"

#include <optional>

#include "loop/verify/cuda_lexer.h"
#include "loop/verify/edit_list.h"
#include "loop/verify/shared_rewrite.h"

namespace kerf::verify {
namespace {

using Tokens = std::vector<Token>;

bool IsTriple(const Tokens& tokens, size_t i, std::string_view mark) {
  return i + 2 < tokens.size() && tokens[i].Is(mark) && tokens[i + 1].Is(mark) &&
         tokens[i + 2].Is(mark) && tokens[i].end == tokens[i + 1].begin &&
         tokens[i + 1].end == tokens[i + 2].begin;
}

// Index of the bracket that `i` closes. Inside parentheses < and > are comparisons.
std::optional<size_t> MatchBack(const Tokens& tokens, size_t i) {
  const bool angle = tokens[i].Is(">");
  int angles = 0;
  int others = 0;
  for (size_t k = i + 1; k-- > 0;) {
    const Token& t = tokens[k];
    if (t.Is(")") || t.Is("]") || t.Is("}")) ++others;
    if (t.Is("(") || t.Is("[") || t.Is("{")) --others;
    if (angle && others == 0 && t.Is(">")) ++angles;
    if (angle && others == 0 && t.Is("<")) --angles;
    if (others == 0 && angles == 0) return k;
    if (others < 0 || t.Is(";") || t.kind == TokenKind::kEndOfDefine) return std::nullopt;
  }
  return std::nullopt;
}

bool IsStatementWord(const Token& t) {
  return t.Is("return") || t.Is("else") || t.Is("do") || t.Is("if") || t.Is("while") ||
         t.Is("for") || t.Is("switch") || t.Is("case") || t.Is("default");
}

// Index of the first token of the kernel's name, which ends before token `open`.
std::optional<size_t> KernelBegin(const Tokens& tokens, size_t open) {
  size_t i = open;
  while (i > 0) {
    --i;
    if (tokens[i].Is(">") || tokens[i].Is("]")) {
      std::optional<size_t> match = MatchBack(tokens, i);
      if (!match || *match == 0) return std::nullopt;
      i = *match;
      continue;  // the name stands before the bracket
    }
    if (tokens[i].Is(")")) {
      std::optional<size_t> match = MatchBack(tokens, i);
      if (!match) return std::nullopt;
      i = *match;
      const bool call =
          i > 0 && tokens[i - 1].kind == TokenKind::kWord && !IsStatementWord(tokens[i - 1]);
      if (!call) return i;
      continue;
    }
    if (tokens[i].kind != TokenKind::kWord || IsStatementWord(tokens[i])) return std::nullopt;
    if (i == 0) return i;
    const Token& before = tokens[i - 1];
    if (before.Is("template")) --i;
    if (i == 0) return i;
    const Token& link = tokens[i - 1];
    if (link.Is("##") || link.Is(".") || link.Is("->")) {
      --i;
      continue;
    }
    if (!link.Is("::")) return i;
    const bool qualified =
        i >= 2 && (tokens[i - 2].Is(">") ||
                   (tokens[i - 2].kind == TokenKind::kWord && !IsStatementWord(tokens[i - 2])));
    if (!qualified) return i - 1;
    --i;
  }
  return std::nullopt;
}

// Index of the `>>>` that ends the configuration, or of the `)` that ends the arguments.
std::optional<size_t> FindClose(const Tokens& tokens, size_t from, std::string_view close) {
  int depth = 0;
  for (size_t i = from; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (depth == 0 && (close == ">>>" ? IsTriple(tokens, i, ">") : t.Is(close))) return i;
    if (t.Is("(") || t.Is("[") || t.Is("{")) ++depth;
    if (t.Is(")") || t.Is("]") || t.Is("}")) --depth;
    if (depth < 0 || t.kind == TokenKind::kEndOfDefine) return std::nullopt;
  }
  return std::nullopt;
}

std::string OneLine(const Tokens& tokens, size_t first, size_t last) {
  std::string out;
  for (size_t i = first; i < last; ++i) {
    if (i > first && tokens[i].begin > tokens[i - 1].end) out += ' ';
    out += tokens[i].text;
  }
  return out;
}

std::vector<LaunchSite> FindLaunches(std::string_view source, const Tokens& tokens) {
  std::vector<LaunchSite> sites;
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (!IsTriple(tokens, i, "<") || tokens[i - 1].Is("operator")) continue;
    std::optional<size_t> begin = KernelBegin(tokens, i);
    std::optional<size_t> close = FindClose(tokens, i + 3, ">>>");
    if (!begin || !close || *close + 3 >= tokens.size() || !tokens[*close + 3].Is("(")) continue;
    std::optional<size_t> end = FindClose(tokens, *close + 4, ")");
    if (!end) continue;
    LaunchSite site;
    site.line = tokens[*begin].line;
    site.kernel = OneLine(tokens, *begin, i);
    site.begin = tokens[*begin].begin;
    site.open = tokens[i].begin;
    site.close = tokens[*close].begin;
    site.open_paren = tokens[*close + 3].begin;
    site.end = tokens[*end].end;
    site.config = source.substr(site.open + 3, site.close - site.open - 3);
    site.arguments = source.substr(site.open_paren + 1, site.end - site.open_paren - 2);
    sites.push_back(std::move(site));
    i = *close + 3;
  }
  return sites;
}

void AddLaunch(const LaunchSite& site, LaunchWords words, EditList& edits) {
  edits.Insert(site.begin, std::move(words.before_kernel));
  edits.Replace(site.open, site.open + 3, std::move(words.after_kernel));
  edits.Replace(site.close, site.close + 3, "");
  edits.Replace(site.open_paren, site.open_paren + 1, std::move(words.after_config));
  edits.Replace(site.end - 1, site.end, std::move(words.after_arguments));
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

LaunchWords SimtLaunch(const LaunchSite& site) {
  return {" ::kerf_simt::Kernel(\"" + Escaped(site.kernel) + "\", [&](auto&... kerf_simt_a) { ",
          "(kerf_simt_a...); }).Config(", ").Run(", ")"};
}

// An argument that is the word NULL: after it was copied for the kernel it would be a number.
void ReplaceNulls(const Tokens& tokens, const std::vector<LaunchSite>& sites, EditList& edits) {
  size_t next = 0;
  for (size_t i = 1; i + 1 < tokens.size() && next < sites.size(); ++i) {
    while (next < sites.size() && tokens[i].begin >= sites[next].end) ++next;
    if (next == sites.size() || tokens[i].begin < sites[next].open_paren || !tokens[i].Is("NULL"))
      continue;
    const bool alone = (tokens[i - 1].Is("(") || tokens[i - 1].Is(",")) &&
                       (tokens[i + 1].Is(")") || tokens[i + 1].Is(","));
    if (alone) edits.Replace(tokens[i].begin, tokens[i].end, "nullptr");
  }
}

// asm volatile("" ::: "memory") is a hint to the compiler, and means the same to every one.
bool IsEmptyAsm(const Tokens& tokens, size_t i) {
  while (i < tokens.size() && !tokens[i].Is("(")) ++i;
  return i + 1 < tokens.size() && tokens[i + 1].text == "\"\"";
}

void ReplaceWords(const Tokens& tokens, const SimtOptions& options, SimtSource& out,
                  EditList& edits) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& t = tokens[i];
    if (t.kind != TokenKind::kWord) continue;
    if (t.text == "__noinline__") {
      const bool attribute = i > 0 && tokens[i - 1].Is("(");
      if (!attribute) edits.Replace(t.begin, t.end, "__attribute__((noinline))");
    } else if (t.text == "asm" || t.text == "__asm__" || t.text == "__asm") {
      if (IsEmptyAsm(tokens, i)) continue;
      const std::string what =
          "simt: inline assembly (PTX, GCN) is not emulated; write it in CUDA C";
      out.unsupported.push_back({t.line, what});
      edits.Insert(t.begin, " _Pragma(\"GCC error \\\"" + what + "\\\"\") ");
    } else if (options.torch && t.text == "is_cuda" && i > 0 &&
               (tokens[i - 1].Is(".") || tokens[i - 1].Is("->"))) {
      edits.Replace(t.begin, t.end, "is_cpu");
    } else if (options.torch && (t.text == "kCUDA" || t.text == "kHIP")) {
      edits.Replace(t.begin, t.end, "kCPU");
    }
  }
}

}  // namespace

std::vector<LaunchSite> FindLaunches(std::string_view source) {
  return FindLaunches(source, LexCuda(source));
}

std::string ReplaceLaunches(std::string_view source, const std::vector<LaunchSite>& sites,
                            const std::function<LaunchWords(const LaunchSite&)>& words) {
  EditList edits;
  for (const LaunchSite& site : sites) AddLaunch(site, words(site), edits);
  return edits.Apply(source);
}

SimtSource RewriteForSimt(std::string_view source, const SimtOptions& options) {
  SimtSource out;
  EditList edits;
  const Tokens tokens = LexCuda(source);
  out.launches = FindLaunches(source, tokens);
  for (const LaunchSite& site : out.launches) AddLaunch(site, SimtLaunch(site), edits);
  ReplaceNulls(tokens, out.launches, edits);
  ReplaceWords(tokens, options, out, edits);
  RewriteShared(tokens, options.check_shared, out.unsupported, edits);
  out.text = edits.Apply(source);
  return out;
}

}  // namespace kerf::verify

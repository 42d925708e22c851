#include "loop/verify/cuda_split.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "loop/verify/cuda_lexer.h"
#include "loop/verify/edit_list.h"
#include "loop/verify/launch_rewrite.h"

namespace kerf::verify {
namespace {

using Tokens = std::vector<Token>;

enum class Owner { kHost, kDevice, kGlobal, kBoth, kNoFunction };

struct Body {
  size_t begin = 0;  // first token of the declaration
  size_t open = 0;   // token of {
  size_t close = 0;  // token of }
  Owner owner = Owner::kNoFunction;
};

std::optional<size_t> MatchBrace(const Tokens& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].Is("{")) ++depth;
    if (tokens[i].Is("}") && --depth == 0) return i;
  }
  return std::nullopt;
}

// What kind of thing the brace at the end of these tokens opens.
Owner OwnerOf(const Tokens& tokens, size_t begin, size_t open) {
  bool parameters = false;
  bool device = false;
  bool global = false;
  bool host = false;
  int depth = 0;
  for (size_t i = begin; i < open; ++i) {
    const Token& token = tokens[i];
    if (token.Is("(")) {
      parameters = true;
      ++depth;
    }
    if (token.Is(")")) --depth;
    if (token.Is("__device__")) device = true;
    if (token.Is("__global__")) global = true;
    if (token.Is("__host__")) host = true;
    // Usable on both sides, as far as the compilers are concerned.
    if (token.Is("constexpr")) device = host = true;
    if (depth == 0 && token.Is("=")) return Owner::kNoFunction;
    const bool type = token.Is("struct") || token.Is("class") || token.Is("union") ||
                      token.Is("enum") || token.Is("namespace");
    // `template <class T>` and `struct x f(…)` do not open a type.
    if (type && depth == 0 && !parameters && i + 1 < open) {
      bool in_template = false;
      for (size_t k = begin; k < i; ++k) in_template = in_template || tokens[k].Is("<");
      for (size_t k = begin; k < i; ++k) in_template = in_template && !tokens[k].Is(">");
      const bool function = std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(i),
                                        tokens.begin() + static_cast<std::ptrdiff_t>(open),
                                        [](const Token& t) { return t.Is("("); });
      if (!in_template && !function) return Owner::kNoFunction;
    }
  }
  if (global) return Owner::kGlobal;
  if (!parameters) return Owner::kNoFunction;
  if (device) return host ? Owner::kBoth : Owner::kDevice;
  return Owner::kHost;
}

// The bodies of all functions, outermost first; what is inside a body is not looked at.
std::vector<Body> FindBodies(const Tokens& tokens) {
  std::vector<Body> bodies;
  size_t begin = 0;  // of the present declaration
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.in_define || token.kind == TokenKind::kDefine ||
        token.kind == TokenKind::kEndOfDefine || token.kind == TokenKind::kIf ||
        token.kind == TokenKind::kElse || token.kind == TokenKind::kEndif || token.Is(";") ||
        token.Is("}")) {
      begin = i + 1;
      continue;
    }
    if (!token.Is("{")) continue;
    const Owner owner = OwnerOf(tokens, begin, i);
    const std::optional<size_t> close = MatchBrace(tokens, i);
    if (owner != Owner::kNoFunction && close.has_value()) {
      bodies.push_back({begin, i, *close, owner});
      i = *close;
    }
    begin = i + 1;
  }
  return bodies;
}

std::string KeepLines(std::string_view removed, const char* with) {
  return with +
         std::string(static_cast<size_t>(std::count(removed.begin(), removed.end(), '\n')), '\n');
}

}  // namespace

CudaHalves SplitCuda(std::string_view source) {
  const Tokens tokens = LexCuda(source);
  EditList host;
  EditList device;
  for (const Body& body : FindBodies(tokens)) {
    const size_t begin = tokens[body.open].begin;
    const size_t end = tokens[body.close].end;
    const std::string_view text = source.substr(begin, end - begin);
    if (body.owner == Owner::kGlobal) host.Replace(begin, end, KeepLines(text, "{}"));
    if (body.owner == Owner::kDevice) host.Replace(begin, end, KeepLines(text, ";"));
    if (body.owner == Owner::kHost) {
      // All of it: its parameters may be of types that device code cannot have.
      const size_t first = tokens[body.begin].begin;
      device.Replace(first, end, KeepLines(source.substr(first, end - first), ""));
    }
  }
  // A static kernel has a name of its own in each half.
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool pair = (tokens[i].Is("static") && tokens[i + 1].Is("__global__")) ||
                      (tokens[i].Is("__global__") && tokens[i + 1].Is("static"));
    if (!pair) continue;
    const Token& word = tokens[i].Is("static") ? tokens[i] : tokens[i + 1];
    host.Replace(word.begin, word.end, "");
    device.Replace(word.begin, word.end, "");
  }
  CudaHalves halves;
  halves.device = device.Apply(source);
  const std::string stripped = host.Apply(source);
  halves.host = ReplaceLaunches(stripped, FindLaunches(stripped), [](const LaunchSite&) {
    return LaunchWords{"::kerf_launch::Launch(", ", ", ")(", ")"};
  });
  return halves;
}

}  // namespace kerf::verify

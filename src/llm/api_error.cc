#include "llm/api_error.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kerf::llm {
namespace {

constexpr size_t kLongestMessage = 2000;
constexpr size_t kLongestPage = 300;  // a page for people; its first words tell

bool ReadText(JsonReader& reader, std::string& out) {
  switch (reader.Peek()) {
    case JsonType::kString:
      return reader.ReadString(out);
    case JsonType::kNull:
      return reader.ReadNull();
    default: {
      // A number as code, a list as detail: its JSON says it.
      std::string_view raw;
      if (!reader.ReadRaw(raw)) return false;
      out = raw;
      return true;
    }
  }
}

bool ReadMembers(JsonReader& reader, ApiError& error, int depth) {
  std::string key;
  for (reader.BeginObject(); reader.NextKey(key);) {
    if (key == "error" && depth == 0) {
      if (reader.Peek() == JsonType::kObject) {
        ReadMembers(reader, error, 1);
      } else {
        ReadText(reader, error.message);
      }
    } else if (key == "message" || key == "detail" || key == "error_msg") {
      std::string text;
      ReadText(reader, text);
      if (error.message.empty()) error.message = std::move(text);
    } else if (key == "type") {
      std::string text;
      ReadText(reader, text);
      if (text != "error") error.type = std::move(text);  // Anthropic's frame says just that
    } else if (key == "code") {
      ReadText(reader, error.code);
    } else if (key == "param") {
      ReadText(reader, error.param);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

// The words of an HTML page: tags, scripts and styles left out, white space folded.
std::string TextOfHtml(std::string_view html) {
  std::string out;
  const auto space = [&] {
    if (!out.empty() && out.back() != ' ') out += ' ';
  };
  while (!html.empty() && out.size() < kLongestPage) {
    if (html.front() == '<') {
      for (const std::string_view tag : {"script", "style"}) {
        if (!html.substr(1).starts_with(tag)) continue;
        html.remove_prefix(std::min(html.find("</" + std::string(tag)), html.size()));
        break;
      }
      if (html.empty()) break;
      html.remove_prefix(std::min(html.find('>'), html.size() - 1) + 1);
      space();
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(html.front())) != 0) {
      space();
    } else {
      out += html.front();
    }
    html.remove_prefix(1);
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

bool Contains(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != text.end();
}

// Some servers name the parameter in words only.
std::string ParamFromWords(std::string_view message) {
  static constexpr std::array<std::string_view, 9> kParams = {
      "stream_options", "max_completion_tokens", "max_tokens",       "temperature",     "top_p",
      "seed",           "frequency_penalty",     "presence_penalty", "reasoning_effort"};
  for (const std::string_view param : kParams) {
    if (message.find(param) != std::string_view::npos) return std::string(param);
  }
  return "";
}

bool SaysUnsupported(const ApiError& error) {
  if (error.code == "unsupported_parameter" || error.code == "unsupported_value" ||
      error.code == "unknown_parameter") {
    return true;
  }
  for (const std::string_view words :
       {"unsupported parameter", "not supported with this model", "does not support",
        "unknown parameter", "unrecognized request argument", "extra inputs are not permitted",
        "cannot both be specified", "is deprecated for this model"}) {
    if (Contains(error.message, words)) return true;
  }
  return false;
}

}  // namespace

std::string ApiError::Text() const {
  std::string text = status == 0 ? "error in the stream" : "HTTP " + std::to_string(status);
  if (!code.empty()) {
    text += " " + code;
  } else if (!type.empty()) {
    text += " " + type;
  }
  if (!message.empty()) text += ": " + message;
  return text;
}

bool ReadErrorValue(JsonReader& reader, ApiError& error) {
  if (reader.Peek() == JsonType::kObject) return ReadMembers(reader, error, 1);
  return ReadText(reader, error.message);
}

ApiError ParseErrorBody(int status, std::string_view body) {
  ApiError error;
  error.status = status;
  JsonReader reader(body);
  const bool json = reader.Peek() == JsonType::kObject && ReadMembers(reader, error, 0);
  if (!json || error.message.empty()) {
    const size_t first = body.find_first_not_of(" \t\r\n");
    const bool html = first != std::string_view::npos && body[first] == '<';
    error.message = html ? TextOfHtml(body) : std::string(body.substr(0, kLongestMessage));
  }
  if (error.message.size() > kLongestMessage) error.message.resize(kLongestMessage);
  return error;
}

ErrorClass Classify(ApiError& error) {
  if (error.code == "insufficient_quota" || error.code == "billing_hard_limit_reached" ||
      Contains(error.message, "insufficient balance")) {
    return ErrorClass::kPermanent;
  }
  if (error.code == "context_length_exceeded") return ErrorClass::kPermanent;
  if ((error.status == 400 || error.status == 422) && SaysUnsupported(error)) {
    if (error.param.empty()) error.param = ParamFromWords(error.message);
    // Both together are refused: the less usual one goes.
    if (Contains(error.message, "cannot both be specified")) error.param = "top_p";
    error.param = error.param.substr(0, error.param.find_first_of(".["));
    return error.param.empty() ? ErrorClass::kPermanent : ErrorClass::kDropParam;
  }
  if (error.status == 429) return ErrorClass::kRateLimit;
  if (error.status == 408 || error.status == 409 || error.status >= 500) return ErrorClass::kRetry;
  if (error.status != 0) return ErrorClass::kPermanent;
  if (error.type == "rate_limit_error" || error.code == "rate_limit_exceeded") {
    return ErrorClass::kRateLimit;
  }
  // In a stream there is no status; what a status would have refused came before the stream.
  for (const std::string_view kind : {"invalid_request_error", "authentication_error",
                                      "permission_error", "not_found_error", "request_too_large"}) {
    if (error.type == kind) return ErrorClass::kPermanent;
  }
  return ErrorClass::kRetry;
}

}  // namespace kerf::llm

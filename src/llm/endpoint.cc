#include "llm/endpoint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/json_reader.h"

namespace kerf::llm {
namespace {

struct Vendor {
  std::string_view host;
  const char* variable;
};
// Chat Completions endpoints whose keys people have under their own names.
constexpr std::array<Vendor, 9> kVendors = {
    Vendor{"api.openai.com", "OPENAI_API_KEY"},
    Vendor{"api.anthropic.com", "ANTHROPIC_API_KEY"},
    Vendor{"api.deepseek.com", "DEEPSEEK_API_KEY"},
    Vendor{"dashscope.aliyuncs.com", "DASHSCOPE_API_KEY"},
    Vendor{"dashscope-intl.aliyuncs.com", "DASHSCOPE_API_KEY"},
    Vendor{"generativelanguage.googleapis.com", "GEMINI_API_KEY"},
    Vendor{"openrouter.ai", "OPENROUTER_API_KEY"},
    Vendor{"api.together.xyz", "TOGETHER_API_KEY"},
    Vendor{"api.fireworks.ai", "FIREWORKS_AI_API_KEY"}};

std::string Trim(std::string text) {
  const auto space = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!text.empty() && space(text.back())) text.pop_back();
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), space));
  return text;
}

// The first of these that is set to something.
std::string FirstSet(const GetVariable& variable, const std::vector<std::string>& names,
                     std::string& origin) {
  for (const std::string& name : names) {
    std::string value = Trim(variable(name).value_or(""));
    if (value.empty()) continue;
    origin = name;
    return value;
  }
  return "";
}

std::string HostOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "";
  url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (const size_t user = url.rfind('@'); user != std::string_view::npos) {
    url.remove_prefix(user + 1);
  }
  std::string host(url.substr(0, url.rfind(':')));
  std::transform(host.begin(), host.end(), host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return host;
}

Status CheckUrl(const std::string& url, const std::string& origin) {
  const bool http = url.starts_with("http://") || url.starts_with("https://");
  const bool plain =
      std::none_of(url.begin(), url.end(), [](unsigned char c) { return c <= 0x20 || c == 0x7F; });
  if (http && plain && !HostOf(url).empty()) return {};
  return InvalidInput("the endpoint '" + ShownUrl(url) + "' (" + origin +
                      ") is no http or https address");
}

Status CheckKey(const std::string& key, const std::string& origin) {
  const bool fine =
      std::all_of(key.begin(), key.end(), [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  if (fine) return {};
  return InvalidInput("the key in " + origin +
                      " holds a space, a line end or another character no key has");
}

Status ResolveUrl(Endpoint& endpoint, const EndpointConfig& config, const GetVariable& variable) {
  const bool anthropic = endpoint.wire == ModelKind::kAnthropic;
  endpoint.base_url = config.base_url;
  endpoint.base_url_origin = "configuration";
  if (endpoint.base_url.empty()) {
    endpoint.base_url =
        FirstSet(variable,
                 anthropic ? std::vector<std::string>{"ANTHROPIC_BASE_URL"}
                           : std::vector<std::string>{"OPENAI_BASE_URL", "OPENAI_API_BASE"},
                 endpoint.base_url_origin);
  }
  if (endpoint.base_url.empty()) {
    endpoint.base_url = anthropic ? "https://api.anthropic.com" : "https://api.openai.com/v1";
    endpoint.base_url_origin = "default";
  }
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  return CheckUrl(endpoint.base_url, endpoint.base_url_origin);
}

Status ResolveKey(Endpoint& endpoint, const EndpointConfig& config, const GetVariable& variable) {
  const std::string host = HostOf(endpoint.base_url);
  const auto vendor = std::find_if(kVendors.begin(), kVendors.end(),
                                   [&](const Vendor& known) { return known.host == host; });
  std::vector<std::string> names;
  if (!config.key_variable.empty()) {
    names = {config.key_variable};
  } else if (vendor != kVendors.end()) {
    // A key of one vendor is not sent to another.
    names = {vendor->variable};
  } else {
    names = {endpoint.wire == ModelKind::kAnthropic ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY"};
  }
  endpoint.key = FirstSet(variable, names, endpoint.key_origin);
  if (!endpoint.key.empty()) return CheckKey(endpoint.key, endpoint.key_origin);
  if (vendor == kVendors.end() && config.key_variable.empty()) return {};  // a local server
  return Unavailable("no key for " + ShownUrl(endpoint.base_url) + ": set " + names.front());
}

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

// Words that begin like the key and go on with stars.
void RedactMasked(std::string& text, const std::string& key, const std::string& mark) {
  const std::string start = key.substr(0, 3);
  for (size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    size_t end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                                 std::string_view("-_*.").find(text[end]) != std::string::npos)) {
      ++end;
    }
    const std::string_view word = std::string_view(text).substr(at, end - at);
    if (word.find("**") == std::string_view::npos && word.find("...") == std::string_view::npos) {
      at += start.size();
      continue;
    }
    text.replace(at, end - at, mark);
    at += mark.size();
  }
}

}  // namespace

std::string ShownUrl(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const size_t scheme = url.find("://");
  const size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t path = std::min(url.find('/', host), url.size());
  const size_t user = url.substr(0, path).rfind('@');
  if (user == std::string_view::npos || user < host) return std::string(url);
  return std::string(url.substr(0, host)) + std::string(url.substr(user + 1));
}

std::string RedactKey(std::string text, const Endpoint& endpoint) {
  // Shorter ones are placeholders ("x", "none") that stand in ordinary words.
  if (endpoint.key.size() < 6) return text;
  const std::string mark = "[REDACTED:" + endpoint.key_origin + "]";
  std::string escaped;
  AppendJsonString(escaped, endpoint.key);
  ReplaceAll(text, endpoint.key, mark);
  ReplaceAll(text, escaped.substr(1, escaped.size() - 2), mark);
  RedactMasked(text, endpoint.key, mark);
  return text;
}

Result<Endpoint> ResolveEndpoint(const ModelSpec& spec, const EndpointConfig& config,
                                 const GetVariable& variable) {
  KERF_CHECK(spec.kind == ModelKind::kOpenAi || spec.kind == ModelKind::kAnthropic,
             "only models behind an endpoint have one");
  Endpoint endpoint;
  endpoint.wire = spec.kind;
  endpoint.model = spec.value;
  endpoint.sampling = config.sampling;
  endpoint.extra_body = config.extra_body;
  if (!config.extra_body.empty()) {
    JsonReader reader(config.extra_body);
    const bool object = reader.Peek() == JsonType::kObject && reader.Skip() && reader.Finish();
    if (!object) return InvalidInput("extra_body must be a JSON object");
  }
  KERF_RETURN_IF_ERROR(ResolveUrl(endpoint, config, variable));
  KERF_RETURN_IF_ERROR(ResolveKey(endpoint, config, variable));
  std::string ignored;
  endpoint.ca_file =
      FirstSet(variable, {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"}, ignored);
  endpoint.ca_dir = FirstSet(variable, {"SSL_CERT_DIR"}, ignored);
  return endpoint;
}

}  // namespace kerf::llm

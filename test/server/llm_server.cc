// A model's endpoint for tests: speaks both wires, and misbehaves as its script says.
//
//   kerf_llm_server SCRIPT LOG
//
// Prints "port N" and serves on the loopback until its standard input ends. One thread, one poll():
// hundreds of slow streams are no matter. It is part of the tests, not of kerf.
//
// SCRIPT is {"rules": [RULE…]}: each request takes the next rule, one with "times": n serves n
// requests, the last one serves all that follow. A rule:
//
//   when "…"                           for requests with these words in the body, any number of
//   times;
//                                      goes before the rules without
//   status, headers {…}, body "…"      a plain answer; "{KEY}" in body is the key that was sent
//   text, reasoning, reasoning_field   what the model says, in the request's wire; "{KEY}" likewise
//   finish                             null: none is sent
//   usage [input, output]              null: none is sent
//   model                              the one that answers
//   plain: true                        a JSON body although a stream was asked for
//   piece: n                           characters of text in one event (default 8)
//   chunk: n                           bytes in one write (default: an event)
//   newline "\r\n"                     line ends of the stream
//   multi_line: true                   each event's data in two lines
//   keep_alive: true                   comments between events
//   delay_ms                           before the answer; gap_ms between writes
//   cut: n, stall: n                   after n bytes of the body: close, or send nothing more
//   error_after: n                     after n events: an error event, then the end
//   done: false                        no [DONE], no last blank line
//   length: "close"                    the body ends with the connection, not with a chunk
//
// LOG gets one line for each request: {"n","path","key","headers","body"}; the key itself is in
// none of them, only whether there was one.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;
using SteadyClock = std::chrono::steady_clock;
using Time = SteadyClock::time_point;

struct HttpRequest {
  std::string method, path, body, key;
  std::map<std::string, std::string> headers;  // names in lower case
};

struct Write {
  Time due;
  std::string bytes;
};

struct Connection {
  int fd = -1;
  std::string in;
  std::deque<Write> out;
  bool answering = false;
  bool close_after = false;
  bool stalled = false;  // stays open and silent
};

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Whole characters, about `size` bytes each.
std::vector<std::string> Pieces(const std::string& text, size_t size) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.size(), at + size);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

// What the model says, as events of a wire.
class Script {
 public:
  Script(const Json& rule, const HttpRequest& request)
      : rule_(rule), key_(request.key), anthropic_(request.path.ends_with("/messages")) {}

  [[nodiscard]] std::string Plain() const {
    if (anthropic_) {
      Json content = Json::array();
      if (!Text("reasoning").empty()) {
        content.push_back({{"type", "thinking"}, {"thinking", Text("reasoning")}});
      }
      content.push_back({{"type", "text"}, {"text", Text("text")}});
      return Json{{"id", "msg_1"},      {"type", "message"},       {"model", Model()},
                  {"content", content}, {"stop_reason", Finish()}, {"usage", Usage()}}
          .dump();
    }
    Json message = {{"role", "assistant"}, {"content", Text("text")}};
    if (!Text("reasoning").empty()) message[ReasoningField()] = Text("reasoning");
    return Json{{"id", "chat_1"},
                {"object", "chat.completion"},
                {"model", Model()},
                {"choices", {{{"index", 0}, {"message", message}, {"finish_reason", Finish()}}}},
                {"usage", Usage()}}
        .dump();
  }

  [[nodiscard]] std::vector<std::string> Events() const {
    std::vector<std::string> events;
    const auto add = [&](const Json& event) {
      events.push_back(Event(anthropic_ ? event["type"].get<std::string>() : "", event.dump()));
    };
    for (const Json& event : anthropic_ ? AnthropicEvents() : OpenAiEvents()) add(event);
    if (rule_.contains("error_after")) {
      events.resize(std::min<size_t>(events.size(), rule_["error_after"]));
      const Json error = {{"type", "overloaded_error"}, {"message", "the model is overloaded"}};
      add(anthropic_ ? Json{{"type", "error"}, {"error", error}} : Json{{"error", error}});
      return events;
    }
    const bool done = rule_.value("done", true);
    if (!anthropic_ && done) events.push_back(Event("", "[DONE]"));
    if (!done && !events.empty()) {
      while (events.back().ends_with('\n') || events.back().ends_with('\r')) {
        events.back().pop_back();
      }
    }
    return events;
  }

 private:
  [[nodiscard]] std::string Text(const char* name) const {
    return Replaced(rule_.value(name, ""), "{KEY}", key_);
  }
  [[nodiscard]] std::string Model() const { return rule_.value("model", "test-model"); }
  [[nodiscard]] std::string ReasoningField() const {
    return rule_.value("reasoning_field", "reasoning_content");
  }
  [[nodiscard]] Json Finish() const {
    return rule_.contains("finish") ? rule_["finish"] : Json(anthropic_ ? "end_turn" : "stop");
  }
  [[nodiscard]] Json Usage() const {
    const Json usage = rule_.contains("usage") ? rule_["usage"] : Json::array({10, 5});
    if (!usage.is_array()) return nullptr;
    if (anthropic_) {
      return {
          {"input_tokens", usage[0]}, {"cache_read_input_tokens", 2}, {"output_tokens", usage[1]}};
    }
    return {{"prompt_tokens", usage[0]},
            {"completion_tokens", usage[1]},
            {"prompt_tokens_details", {{"cached_tokens", 2}}}};
  }

  [[nodiscard]] std::string Event(const std::string& name, std::string data) const {
    const std::string newline = rule_.value("newline", "\n");
    if (rule_.value("multi_line", false) && data.size() > 2 && data[0] == '{') {
      data = "{" + newline + "data:" + data.substr(1);
    }
    std::string event = name.empty() ? "" : "event: " + name + newline;
    event += "data: " + data + newline + newline;
    if (rule_.value("keep_alive", false)) event += ": keep-alive" + newline + newline;
    return event;
  }

  [[nodiscard]] Json OpenAiEvents() const {
    Json events = Json::array();
    const auto chunk = [&](const Json& delta, const Json& finish) {
      events.push_back({{"id", "chat_1"},
                        {"object", "chat.completion.chunk"},
                        {"model", Model()},
                        {"choices", {{{"index", 0}, {"delta", delta}, {"finish_reason", finish}}}},
                        {"usage", nullptr}});
    };
    chunk({{"role", "assistant"}, {"content", ""}}, nullptr);
    for (const std::string& piece : Pieces(Text("reasoning"), rule_.value("piece", 8))) {
      chunk({{ReasoningField(), piece}}, nullptr);
    }
    for (const std::string& piece : Pieces(Text("text"), rule_.value("piece", 8))) {
      chunk({{"content", piece}}, nullptr);
    }
    if (!Finish().is_null()) chunk(Json::object(), Finish());
    if (!Usage().is_null()) {
      events.push_back({{"id", "chat_1"}, {"choices", Json::array()}, {"usage", Usage()}});
    }
    return events;
  }

  [[nodiscard]] Json AnthropicEvents() const {
    Json events = Json::array();
    Json start = {
        {"id", "msg_1"}, {"type", "message"}, {"model", Model()}, {"content", Json::array()}};
    if (!Usage().is_null()) {
      start["usage"] = Usage();
      start["usage"]["output_tokens"] = 1;
    }
    events.push_back({{"type", "message_start"}, {"message", start}});
    events.push_back({{"type", "ping"}});
    int index = 0;
    for (const char* kind : {"thinking", "text"}) {
      const std::string text = Text(std::string_view(kind) == "text" ? "text" : "reasoning");
      if (text.empty()) continue;
      events.push_back({{"type", "content_block_start"},
                        {"index", index},
                        {"content_block", {{"type", kind}, {kind, ""}}}});
      for (const std::string& piece : Pieces(text, rule_.value("piece", 8))) {
        events.push_back({{"type", "content_block_delta"},
                          {"index", index},
                          {"delta", {{"type", std::string(kind) + "_delta"}, {kind, piece}}}});
      }
      events.push_back({{"type", "content_block_stop"}, {"index", index++}});
    }
    if (!Finish().is_null()) {
      Json delta = {{"type", "message_delta"}, {"delta", {{"stop_reason", Finish()}}}};
      if (!Usage().is_null()) delta["usage"] = {{"output_tokens", Usage()["output_tokens"]}};
      events.push_back(delta);
      events.push_back({{"type", "message_stop"}});
    }
    return events;
  }

  const Json& rule_;
  const std::string key_;
  const bool anthropic_;
};

class Server {
 public:
  Server(Json script, const std::string& log) : rules_(script["rules"]), log_(log) {}

  int Run() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0) return 1;
    if (::listen(listener_, 1024) != 0) return 1;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    std::cout << "port " << ntohs(address.sin_port) << std::endl;
    while (Turn()) {
    }
    return 0;
  }

 private:
  // One round of waiting and serving; false at the end of standard input.
  bool Turn() {
    std::vector<pollfd> fds = {{0, POLLIN, 0}, {listener_, POLLIN, 0}};
    const Time now = SteadyClock::now();
    int wait = -1;
    for (Connection& connection : connections_) {
      short events = POLLIN;
      if (!connection.out.empty()) {
        const auto due = connection.out.front().due;
        if (due <= now) {
          events |= POLLOUT;
        } else {
          const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(due - now).count();
          wait = std::min(wait < 0 ? 1 << 30 : wait, static_cast<int>(ms) + 1);
        }
      }
      fds.push_back({connection.fd, events, 0});
    }
    ::poll(fds.data(), fds.size(), wait);
    if (fds[0].revents != 0) {
      char bytes[256];
      if (::read(0, bytes, sizeof bytes) <= 0) return false;
    }
    for (size_t i = 0; i < connections_.size(); ++i) Serve(connections_[i], fds[i + 2].revents);
    std::erase_if(connections_, [](const Connection& connection) { return connection.fd < 0; });
    if ((fds[1].revents & POLLIN) != 0) Accept();
    return true;
  }

  void Accept() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) return;
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      connections_.emplace_back().fd = fd;
    }
  }

  static void Close(Connection& connection) {
    ::close(connection.fd);
    connection.fd = -1;
  }

  void Serve(Connection& connection, short revents) {
    if ((revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      char bytes[65536];
      const ssize_t n = ::recv(connection.fd, bytes, sizeof bytes, 0);
      if (n == 0 || (n < 0 && errno != EAGAIN)) return Close(connection);
      if (n > 0) connection.in.append(bytes, static_cast<size_t>(n));
    }
    if (!connection.answering) TakeRequest(connection);
    Flush(connection);
  }

  static void Flush(Connection& connection) {
    while (!connection.out.empty() && connection.out.front().due <= SteadyClock::now()) {
      std::string& bytes = connection.out.front().bytes;
      const ssize_t n = ::send(connection.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) return Close(connection);
      bytes.erase(0, static_cast<size_t>(n));
      if (!bytes.empty()) return;
      connection.out.pop_front();
    }
    if (!connection.out.empty() || !connection.answering || connection.stalled) return;
    if (connection.close_after) return Close(connection);
    connection.answering = false;
  }

  void TakeRequest(Connection& connection) {
    const size_t end = connection.in.find("\r\n\r\n");
    if (end == std::string::npos) return;
    HttpRequest request = ParseHead(connection.in.substr(0, end));
    const size_t length = std::strtoul(request.headers["content-length"].c_str(), nullptr, 10);
    if (connection.in.size() < end + 4 + length) return;
    request.body = connection.in.substr(end + 4, length);
    connection.in.erase(0, end + 4 + length);
    connection.answering = true;
    Log(request);
    Answer(connection, request, RuleFor(request));
  }

  static HttpRequest ParseHead(const std::string& head) {
    HttpRequest request;
    size_t at = head.find("\r\n");
    const std::string first = head.substr(0, at);
    request.method = first.substr(0, first.find(' '));
    request.path = first.substr(request.method.size() + 1);
    request.path.resize(request.path.find(' '));
    while (at != std::string::npos) {
      const size_t next = head.find("\r\n", at + 2);
      const std::string line =
          head.substr(at + 2, next == std::string::npos ? next : next - at - 2);
      const size_t colon = line.find(':');
      std::string name = line.substr(0, colon);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (colon != std::string::npos) request.headers[name] = line.substr(colon + 2);
      at = next;
    }
    request.key = request.headers["x-api-key"];
    const std::string bearer = request.headers["authorization"];
    if (bearer.starts_with("Bearer ")) request.key = bearer.substr(7);
    return request;
  }

  void Log(const HttpRequest& request) {
    Json headers = Json::object();
    for (const auto& [name, value] : request.headers) {
      if (name != "authorization" && name != "x-api-key") headers[name] = value;
    }
    Json body = Json::parse(request.body, nullptr, false);
    if (body.is_discarded()) body = request.body;
    log_ << Json{{"n", ++count_},        {"method", request.method},
                 {"path", request.path}, {"key", !request.key.empty()},
                 {"headers", headers},   {"body", body}}
                .dump()
         << std::endl;
  }

  // The first rule whose "when" is in the body, else the next of those without one.
  const Json& RuleFor(const HttpRequest& request) {
    for (const Json& rule : rules_) {
      if (rule.contains("when") &&
          request.body.find(rule["when"].get<std::string>()) != std::string::npos)
        return rule;
    }
    return NextRule();
  }

  const Json& NextRule() {
    while (rule_ + 1 < rules_.size() && used_ >= rules_[rule_].value("times", 1)) {
      ++rule_;
      used_ = 0;
    }
    ++used_;
    return rules_[rule_];
  }

  static void Answer(Connection& connection, const HttpRequest& request, const Json& rule) {
    const Script script(rule, request);
    const bool plain = rule.value("plain", false) || rule.contains("body");
    std::vector<std::string> parts = {plain ? script.Plain() : ""};
    if (rule.contains("body")) {
      parts = {
          Replaced(rule["body"].is_string() ? rule["body"].get<std::string>() : rule["body"].dump(),
                   "{KEY}", request.key)};
    } else if (!plain) {
      parts = script.Events();
    }
    std::string head = "HTTP/1.1 " + std::to_string(rule.value("status", 200)) + " Status\r\n";
    const Json headers = rule.value("headers", Json::object());
    for (const auto& [name, value] : headers.items()) {
      head += name + ": " + value.get<std::string>() + "\r\n";
    }
    if (!headers.contains("content-type")) {
      head += std::string("content-type: ") + (plain ? "application/json" : "text/event-stream") +
              "\r\n";
    }
    const bool close = rule.value("length", "") == "close";
    head += close ? "connection: close\r\n\r\n" : "transfer-encoding: chunked\r\n\r\n";
    Schedule(connection, head, parts, rule, close);
  }

  static void Schedule(Connection& connection, const std::string& head,
                       const std::vector<std::string>& parts, const Json& rule, bool close) {
    const size_t chunk = rule.value("chunk", 0);
    const size_t most =
        std::min<size_t>(rule.value("cut", size_t{1} << 40), rule.value("stall", size_t{1} << 40));
    const auto gap =
        std::chrono::microseconds(static_cast<int64_t>(rule.value("gap_ms", 0.0) * 1000));
    Time due = SteadyClock::now() + std::chrono::milliseconds(rule.value("delay_ms", 0));
    connection.out.push_back({due, head});
    size_t sent = 0;
    const auto write = [&](std::string bytes) {
      if (sent + bytes.size() > most) bytes.resize(most - sent);
      if (bytes.empty()) return;
      sent += bytes.size();
      due += gap;
      if (!close) {
        char size[32];
        std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
        bytes = size + bytes + "\r\n";
      }
      connection.out.push_back({due, std::move(bytes)});
    };
    for (const std::string& part : parts) {
      if (chunk == 0) write(part);
      for (size_t at = 0; chunk > 0 && at < part.size(); at += chunk) write(part.substr(at, chunk));
    }
    const bool broken = rule.contains("cut") || rule.contains("stall");
    connection.stalled = rule.contains("stall");
    connection.close_after = close || broken;
    if (!close && !broken) connection.out.push_back({due, "0\r\n\r\n"});
  }

  const Json rules_;
  std::ofstream log_;
  int listener_ = -1;
  int count_ = 0;
  size_t rule_ = 0;
  int used_ = 0;
  std::deque<Connection> connections_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: kerf_llm_server SCRIPT LOG\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  Json script = Json::parse(file, nullptr, false);
  if (!script.is_object() || !script["rules"].is_array() || script["rules"].empty()) {
    std::cerr << argv[1] << ": no rules\n";
    return 2;
  }
  return Server(std::move(script), argv[2]).Run();
}

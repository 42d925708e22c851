#include "live_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kerf::e2e {

LiveProcess::LiveProcess(const std::vector<std::string>& argv, const std::string& stdin_file) {
  int in[2] = {-1, -1};
  int out[2] = {-1, -1};
  // A socket, so that Send() can be told not to raise SIGPIPE.
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in), 0);
  EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
  if (!stdin_file.empty()) {
    ::close(in[0]);
    in[0] = ::open(stdin_file.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_GE(in[0], 0) << stdin_file;
  }
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

LiveProcess::~LiveProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    Wait();
  }
  CloseInput();
  ::close(output_);
}

void LiveProcess::Signal(int signal) { ::kill(pid_, signal); }

bool LiveProcess::Send(const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = ::send(input_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

void LiveProcess::CloseInput() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

bool LiveProcess::Fill(std::chrono::microseconds timeout) {
  pollfd fd{output_, POLLIN, 0};
  const timespec wait{timeout.count() / 1000000, (timeout.count() % 1000000) * 1000};
  if (::ppoll(&fd, 1, &wait, nullptr) <= 0) return false;
  char bytes[65536];
  const ssize_t n = ::read(output_, bytes, sizeof bytes);
  if (n <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(n));
  return true;
}

std::optional<std::string> LiveProcess::TakeLine() {
  const size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

std::optional<std::string> LiveProcess::ReadLine(std::chrono::milliseconds timeout) {
  std::optional<std::string> line = TakeLine();
  while (!line.has_value() && Fill(timeout)) line = TakeLine();
  return line;
}

std::vector<std::string> LiveProcess::ReadFor(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || !Fill(left)) break;
  }
  std::vector<std::string> lines;
  while (std::optional<std::string> line = TakeLine()) lines.push_back(std::move(*line));
  return lines;
}

std::vector<std::string> LiveProcess::Kill() {
  ::kill(pid_, SIGKILL);
  Wait();
  while (Fill(std::chrono::seconds(5))) {
  }
  std::vector<std::string> lines;
  while (std::optional<std::string> line = TakeLine()) lines.push_back(std::move(*line));
  return lines;
}

int LiveProcess::Wait() {
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace kerf::e2e

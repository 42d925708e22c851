#include "cli/render/output.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "cli/render/text_width.h"

namespace kerf::cli {
namespace {

constexpr size_t kBufferSize = 65536;
constexpr std::string_view kClearLine = "\r\x1b[K";

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      // The other end was made non-blocking by whoever shares it; its reader is slow.
      pollfd ready{fd, POLLOUT, 0};
      (void)::poll(&ready, 1, -1);
      continue;
    }
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

const char* Code(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kBad:
      return "\x1b[31m";
    case Style::kWarn:
      return "\x1b[33m";
    case Style::kMatch:
      return "\x1b[1;36m";
  }
  return "";
}

class StreamOutput : public Output {
 public:
  StreamOutput(int stdout_fd, int stderr_fd)
      : stdout_fd_(stdout_fd),
        stderr_fd_(stderr_fd),
        stdout_is_terminal_(::isatty(stdout_fd) == 1),
        stderr_is_terminal_(::isatty(stderr_fd) == 1),
        colour_(stdout_is_terminal_ && Variable("NO_COLOR").empty() && Variable("TERM") != "dumb") {
  }

  ~StreamOutput() override { (void)Flush(); }

  void Data(std::string_view bytes) override {
    buffer_ += bytes;
    if (buffer_.size() >= kBufferSize) (void)Flush();  // the error is kept for the last Flush()
  }

  void Note(std::string_view line) override {
    // What was printed before it must not appear after it when both go to one terminal.
    if (stdout_is_terminal_) (void)Flush();
    Say(Printable(line));
  }

  void Progress(std::string_view lines) override {
    if (!Live() || (lines.empty() && progress_lines_ == 0)) return;
    const size_t columns = static_cast<size_t>(TerminalWidth(stderr_fd_));
    const std::string fitting = Fitting(lines, TerminalHeight(stderr_fd_));
    lines = fitting;
    std::string text = progress_lines_ > 0 ? ClearProgress() : std::string(kClearLine);
    while (!lines.empty()) {
      const size_t end = lines.find('\n');
      if (progress_lines_++ > 0) text += '\n';
      // One column less: a full last column makes some terminals wrap.
      text += Shortened(Printable(lines.substr(0, end)), columns - 1);
      lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    }
    WriteAll(stderr_fd_, text);
  }

  [[nodiscard]] bool Live() const override {
    return stderr_is_terminal_ && Variable("TERM") != "dumb";
  }

  void Fail(const Error& error) override {
    if (stdout_is_terminal_) (void)Flush();
    Say("kerf: " + Printable(error.message));
  }

  Status Flush() override {
    if (failed_errno_ == 0 && !WriteAll(stdout_fd_, buffer_)) failed_errno_ = errno;
    buffer_.clear();
    if (failed_errno_ == 0) return {};
    const char* advice = failed_errno_ == EPIPE ? "; the program reading it has ended"
                                                : "; check where it is redirected to";
    return IoError(std::string("cannot write to standard output: ") + std::strerror(failed_errno_) +
                   advice);
  }

  [[nodiscard]] std::string Styled(std::string_view text, Style style) const override {
    if (!colour_ || style == Style::kPlain || text.empty()) return std::string(text);
    return Code(style) + std::string(text) + "\x1b[0m";
  }

  [[nodiscard]] int Width() const override {
    return stdout_is_terminal_ ? TerminalWidth(stdout_fd_) : 0;
  }

 private:
  static int TerminalWidth(int fd) {
    const std::string_view text = Variable("COLUMNS");
    int columns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (error == std::errc() && end == text.data() + text.size() && columns > 0) return columns;
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
  }

  static int TerminalHeight(int fd) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) return size.ws_row;
    return 24;
  }

  // What has scrolled off cannot be replaced: only as many lines as the terminal has, without those
  // before the last one, which sums up.
  static std::string Fitting(std::string_view lines, int height) {
    const size_t last = lines.rfind('\n');
    const int most = std::max(height - 1, 1);
    if (last == std::string_view::npos || std::count(lines.begin(), lines.end(), '\n') < most) {
      return std::string(lines);
    }
    size_t end = 0;
    for (int i = 1; i < most; ++i) end = lines.find('\n', end) + 1;
    return std::string(lines.substr(0, end)) + std::string(lines.substr(last + 1));
  }

  void Say(const std::string& line) {
    // Nowhere is left to report that stderr cannot be written to.
    (void)WriteAll(stderr_fd_, ClearProgress() + line + "\n");
  }

  std::string ClearProgress() {
    std::string text;
    if (progress_lines_ > 0) text = kClearLine;
    for (; progress_lines_ > 1; --progress_lines_) text += "\x1b[A\x1b[K";
    progress_lines_ = 0;
    return text;
  }

  const int stdout_fd_;
  const int stderr_fd_;
  const bool stdout_is_terminal_;
  const bool stderr_is_terminal_;
  const bool colour_;
  std::string buffer_;
  int failed_errno_ = 0;    // of the first write to stdout that failed; nothing is written after it
  int progress_lines_ = 0;  // on the screen now
};

}  // namespace

std::unique_ptr<Output> MakeOutput(int stdout_fd, int stderr_fd) {
  return std::make_unique<StreamOutput>(stdout_fd, stderr_fd);
}

}  // namespace kerf::cli

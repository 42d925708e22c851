#include "cli/render/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

// Sets an environment variable for one test; null unsets it.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    if (value == nullptr) {
      ::unsetenv(name);
    } else {
      ::setenv(name, value, 1);
    }
  }
  ~ScopedVariable() {
    if (had_) {
      ::setenv(name_, before_.c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* const name_;
  bool had_;
  std::string before_;
};

struct Ends {
  int read = -1;
  int write = -1;
  ~Ends() {
    ::close(read);
    ::close(write);
  }

  [[nodiscard]] std::string Take() const {
    char buffer[4096];
    const ssize_t n = ::read(read, buffer, sizeof buffer);
    return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
  }
};

void MakePipe(Ends& ends) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
  ends.read = fds[0];
  ends.write = fds[1];
}

// A terminal of 33 columns.
void MakeTerminal(Ends& ends) {
  ends.read = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (ends.read < 0 || ::grantpt(ends.read) != 0 || ::unlockpt(ends.read) != 0) {
    GTEST_SKIP() << "no pseudo-terminals here";
  }
  ends.write = ::open(::ptsname(ends.read), O_RDWR | O_NOCTTY | O_CLOEXEC);
  winsize size{.ws_row = 10, .ws_col = 33};
  ASSERT_EQ(::ioctl(ends.write, TIOCSWINSZ, &size), 0);
}

TEST(Output, KeepsDataAndTalkApart) {
  Ends out, err;
  MakePipe(out);
  MakePipe(err);
  const auto output = MakeOutput(out.write, err.write);
  output->Data("data\n");
  output->Note("note");
  output->Progress("progress");
  output->Fail(NotFound("no such thing"));
  EXPECT_EQ(out.Take(), "");  // buffered
  ASSERT_TRUE(output->Flush().ok());
  EXPECT_EQ(out.Take(), "data\n");
  EXPECT_EQ(err.Take(), "note\nkerf: no such thing\n");
}

TEST(Output, FlushesWhenDestroyed) {
  Ends out, err;
  MakePipe(out);
  MakePipe(err);
  MakeOutput(out.write, err.write)->Data("x");
  EXPECT_EQ(out.Take(), "x");
}

TEST(Output, ErrorsAreOneHarmlessLine) {
  Ends out, err;
  MakePipe(out);
  MakePipe(err);
  MakeOutput(out.write, err.write)->Fail(NotFound("a\nb\x1b[2J"));
  EXPECT_EQ(err.Take(), "kerf: a\\nb\\x1b[2J\n");
}

TEST(Output, IsPlainWithoutATerminal) {
  Ends out, err;
  MakePipe(out);
  MakePipe(err);
  const auto output = MakeOutput(out.write, err.write);
  EXPECT_EQ(output->Styled("x", Style::kBad), "x");
  EXPECT_EQ(output->Width(), 0);
}

TEST(Output, ReportsAFullDiskOnceAndForAll) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "/dev/full is not there";
  Ends err;
  MakePipe(err);
  const auto output = MakeOutput(full, err.write);
  output->Data(std::string(100'000, 'x'));
  const Status status = output->Flush();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_THAT(status.error().message, HasSubstr("No space left on device"));
  EXPECT_FALSE(output->Flush().ok());
  ::close(full);
}

TEST(Output, ColoursATerminal) {
  const ScopedVariable no_color("NO_COLOR", nullptr), term("TERM", "xterm"),
      columns("COLUMNS", nullptr);
  Ends tty;
  MakeTerminal(tty);
  if (::testing::Test::IsSkipped()) return;
  const auto output = MakeOutput(tty.write, tty.write);
  EXPECT_EQ(output->Styled("x", Style::kBad), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(output->Styled("x", Style::kPlain), "x");
  EXPECT_EQ(output->Styled("", Style::kBad), "");
  EXPECT_EQ(output->Width(), 33);
}

TEST(Output, HonoursNoColorDumbTerminalsAndColumns) {
  Ends tty;
  MakeTerminal(tty);
  if (::testing::Test::IsSkipped()) return;
  {
    const ScopedVariable no_color("NO_COLOR", "1"), term("TERM", "xterm"), columns("COLUMNS", "50");
    const auto output = MakeOutput(tty.write, tty.write);
    EXPECT_EQ(output->Styled("x", Style::kBad), "x");
    EXPECT_EQ(output->Width(), 50);
  }
  {
    const ScopedVariable no_color("NO_COLOR", nullptr), term("TERM", "dumb"),
        columns("COLUMNS", "zero");
    const auto output = MakeOutput(tty.write, tty.write);
    EXPECT_EQ(output->Styled("x", Style::kBad), "x");
    EXPECT_EQ(output->Width(), 33);
  }
}

TEST(Output, ProgressReplacesItselfAndGivesWayToNotes) {
  const ScopedVariable term("TERM", "xterm"), columns("COLUMNS", nullptr);
  Ends out, tty;
  MakePipe(out);
  MakeTerminal(tty);
  if (::testing::Test::IsSkipped()) return;
  const auto output = MakeOutput(out.write, tty.write);
  output->Progress("1/2 \x1b[2J");
  EXPECT_EQ(tty.Take(), "\r\x1b[K1/2 \\x1b[2J");
  output->Progress(std::string(100, 'x'));
  EXPECT_EQ(tty.Take(), "\r\x1b[K" + std::string(31, 'x') + "…");
  output->Note("note");
  EXPECT_EQ(tty.Take(), "\r\x1b[Knote\r\n");
  output->Progress("");
  EXPECT_EQ(tty.Take(), "");  // nothing is shown, so there is nothing to clear
}

}  // namespace
}  // namespace kerf::cli

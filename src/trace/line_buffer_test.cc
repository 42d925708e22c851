#include "trace/line_buffer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "trace/pipe_testing.h"

namespace kerf::trace {
namespace {

// Lines of `input`, each looked at only after all were read.
std::vector<std::string> LinesOf(const std::string& input) {
  int fds[2];
  EXPECT_EQ(::pipe(fds), 0);
  std::thread writing([&] {
    WriteAll(fds[1], input);
    ::close(fds[1]);
  });
  LineBuffer buffer;
  struct Kept {
    std::span<char> line;
    std::shared_ptr<const void> keeper;
  };
  std::vector<Kept> kept;
  const auto take = [&](bool at_end) {
    while (const auto line = buffer.Next(at_end)) kept.push_back({*line, buffer.Keeper()});
  };
  while (buffer.Read(fds[0]).value()) take(false);
  take(true);
  writing.join();
  ::close(fds[0]);
  std::vector<std::string> lines;
  lines.reserve(kept.size());
  for (const Kept& one : kept) lines.emplace_back(one.line.begin(), one.line.end());
  return lines;
}

TEST(LineBuffer, LastLineNeedsNoEnd) {
  EXPECT_EQ(LinesOf("a\n\nbc"), (std::vector<std::string>{"a", "", "bc"}));
  EXPECT_EQ(LinesOf("a\n"), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(LinesOf("").empty());
}

TEST(LineBuffer, LinesStayWhileTheyAreKept) {
  std::vector<std::string> lines;
  std::string input;
  for (size_t i = 0; i < 200; ++i) {
    // Many chunks, and some lines that are longer than one.
    const size_t size = i % 40 == 39 ? 3 * LineBuffer::kChunk + i : 37 * i * i % 90001;
    lines.emplace_back(size, static_cast<char>('a' + i % 26));
    input += lines.back() + "\n";
  }
  EXPECT_EQ(LinesOf(input), lines);
}

TEST(LineBuffer, AChunkThatNobodyKeepsIsFilledAgain) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  LineBuffer buffer;
  std::vector<const char*> seen;
  const std::string line(60000, 'x');
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(::write(fds[1], (line + "\n").data(), line.size() + 1),
              static_cast<ssize_t>(line.size() + 1));
    ASSERT_TRUE(buffer.Read(fds[0]).value());
    const auto got = buffer.Next(false);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(std::string(got->begin(), got->end()), line);
    if (std::find(seen.begin(), seen.end(), got->data()) == seen.end()) seen.push_back(got->data());
  }
  // The first chunk is a short one.
  EXPECT_LE(seen.size(), 2 * LineBuffer::kChunk / line.size() + 5);
  ::close(fds[0]);
  ::close(fds[1]);
}

}  // namespace
}  // namespace kerf::trace

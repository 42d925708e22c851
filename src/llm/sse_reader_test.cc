#include "llm/sse_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace kerf::llm {
namespace {

std::vector<std::string> Read(const std::string& bytes, size_t chunk) {
  std::vector<std::string> events;
  SseReader reader([&](const SseEvent& event) { events.push_back(event.name + "|" + event.data); });
  for (size_t at = 0; at < bytes.size(); at += chunk) {
    EXPECT_TRUE(reader.Push(std::string_view(bytes).substr(at, chunk)));
  }
  reader.Finish();
  return events;
}

TEST(SseReader, ReadsEventsSplitAnywhere) {
  const std::string bytes =
      "\xEF\xBB\xBF: hello\n\nevent: a\ndata: 1\n\ndata:2\ndata: x: y\n\nid: 7\nretry: 3\n\n"
      "data\n\nevent: only\n\ndata: \xE4\xB8\x96";
  const std::vector<std::string> expected = {"a|1", "|2\nx: y", "|", "|\xE4\xB8\x96"};
  for (size_t chunk = 1; chunk <= bytes.size(); ++chunk) EXPECT_EQ(Read(bytes, chunk), expected);
}

TEST(SseReader, TakesEveryLineEnd) {
  for (const std::string& end : {std::string("\n"), std::string("\r"), std::string("\r\n")}) {
    const std::string bytes =
        "event: e" + end + "data: 1" + end + "data: 2" + end + end + "data: 3" + end + end;
    for (size_t chunk = 1; chunk <= bytes.size(); ++chunk) {
      EXPECT_EQ(Read(bytes, chunk), (std::vector<std::string>{"e|1\n2", "|3"})) << end.size();
    }
  }
}

TEST(SseReader, BoundsAnEvent) {
  int events = 0;
  SseReader reader([&](const SseEvent&) { ++events; }, 100);
  EXPECT_TRUE(reader.Push("data: short\n\n"));
  bool more = true;
  for (int i = 0; i < 50 && more; ++i) more = reader.Push("data: 1234567890\n");
  EXPECT_FALSE(more);
  EXPECT_FALSE(reader.Push("\n\n"));
  reader.Finish();
  EXPECT_EQ(events, 1);
}

}  // namespace
}  // namespace kerf::llm

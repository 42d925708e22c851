#include "artifact/chip.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace kerf {
namespace {

TEST(Chip, EveryDescriptionOfTheRepositoryReads) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KERF_CHIPS_DIR)) {
    if (entry.path().extension() != ".yaml") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    const Result<Chip> chip = ParseChip(text);
    ASSERT_TRUE(chip.ok()) << entry.path() << ": " << chip.error().message;
    EXPECT_EQ(chip->name, entry.path().stem());
    EXPECT_GT(chip->memory_bandwidth, 0);
    EXPECT_FALSE(chip->origin.empty())
        << entry.path() << " does not say where its numbers come from";
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST(Chip, RefusesWhatIsNoDescription) {
  for (const char* text : {"", "[1, 2]", "name: {", "name: x\nmemory_bandwidth: fast",
                           "memory_bandwidth: 3", "name: x\nmemory_bandwidth: -1"}) {
    const Result<Chip> chip = ParseChip(text);
    EXPECT_FALSE(chip.ok()) << text;
  }
}

}  // namespace
}  // namespace kerf

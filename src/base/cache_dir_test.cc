#include "base/cache_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

namespace kerf {
namespace {

using ::testing::HasSubstr;

GetVariable Variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto it = values.find(name);
    if (it == values.end()) return std::nullopt;
    return it->second;
  };
}

class CacheDir : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kerf-cache-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string root_;
};

TEST_F(CacheDir, PrefersItsOwnVariable) {
  const GetVariable all = Variables({{"KERF_CACHE_DIR", root_ + "/own"},
                                     {"XDG_CACHE_HOME", root_ + "/xdg"},
                                     {"HOME", root_ + "/home"}});
  EXPECT_EQ(*OpenCacheDir(all), root_ + "/own");
  EXPECT_EQ(*OpenCacheDir(Variables({{"XDG_CACHE_HOME", root_ + "/xdg"}, {"HOME", root_}})),
            root_ + "/xdg/kerf");
  EXPECT_EQ(*OpenCacheDir(Variables({{"XDG_CACHE_HOME", "relative"}, {"HOME", root_}})),
            root_ + "/.cache/kerf");
  EXPECT_EQ(OpenCacheDir(Variables({})).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(OpenCacheDir(Variables({{"KERF_CACHE_DIR", "x"}})).error().code,
            ErrorCode::kInvalidInput);
}

TEST_F(CacheDir, IsForItsOwnerAlone) {
  const std::string path = *OpenCacheDir(Variables({{"KERF_CACHE_DIR", root_ + "/a/b/"}}));
  EXPECT_EQ(path, root_ + "/a/b");
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  EXPECT_EQ(OpenCacheDir(Variables({{"KERF_CACHE_DIR", path}})).error().code, ErrorCode::kDenied);
}

TEST(CacheLimit, ReadsBytesAndUnits) {
  EXPECT_EQ(*CacheLimit(Variables({})), uint64_t{4} << 30);
  EXPECT_EQ(*CacheLimit(Variables({{"KERF_CACHE_LIMIT", "500M"}})), uint64_t{500} << 20);
  EXPECT_EQ(*CacheLimit(Variables({{"KERF_CACHE_LIMIT", "7"}})), 7U);
  for (const char* bad : {"x", "-1", "4GB", "1.5G", "99999999999T", "G", " 1"}) {
    const auto limit = CacheLimit(Variables({{"KERF_CACHE_LIMIT", bad}}));
    ASSERT_FALSE(limit.ok()) << bad;
    EXPECT_THAT(limit.error().message, HasSubstr(bad));
  }
}

}  // namespace
}  // namespace kerf

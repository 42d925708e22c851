#include "llm/prompt_library.h"

#include <gtest/gtest.h>

#include "base/fake_file_system.h"

namespace kerf::llm {
namespace {

void Put(FileSystem& fs, const std::string& path, const std::string& text) {
  ASSERT_TRUE(fs.CreateDirs(ParentPath(path)).ok());
  ASSERT_TRUE(WriteFileAtomic(fs, path, text).ok());
}

TEST(PromptLibrary, UsersFilesGoFirstAndChangeTheHash) {
  FakeFileSystem fs;
  const PromptValues values = {{"complaint", "{{x}} <&> \"quoted\""}};
  const auto own = PromptLibrary::Open(fs, {});
  ASSERT_TRUE(own.ok());
  const auto before = own->Render("complaint", values);
  ASSERT_TRUE(before.ok()) << before.error().message;
  // Values are put in as they are: neither escaped nor expanded.
  EXPECT_NE(before->text.find("{{x}} <&> \"quoted\""), std::string::npos);

  Put(fs, "mine/complaint.txt", "Again: {{complaint}}");
  const auto mine = PromptLibrary::Open(fs, {.folder = "mine"});
  ASSERT_TRUE(mine.ok()) << mine.error().message;
  const auto after = mine->Render("complaint", {{"complaint", "no code"}});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->text, "Again: no code");
  EXPECT_NE(after->sha256, before->sha256);
}

TEST(PromptLibrary, RefusesNamesThatHaveNoValue) {
  FakeFileSystem fs;
  Put(fs, "mine/complaint.txt", "Again: {{complain}}");
  const auto library = PromptLibrary::Open(fs, {.folder = "mine"});
  ASSERT_TRUE(library.ok());
  const auto prompt = library->Render("complaint", {{"complaint", "no code"}});
  ASSERT_FALSE(prompt.ok());
  EXPECT_NE(prompt.error().message.find("mine/complaint.txt"), std::string::npos);
  EXPECT_NE(prompt.error().message.find("{{complain}}"), std::string::npos);
}

TEST(PromptLibrary, RefusesFilesThatReplaceNothing) {
  FakeFileSystem fs;
  Put(fs, "mine/codr.txt", "x");
  const auto library = PromptLibrary::Open(fs, {.folder = "mine"});
  ASSERT_FALSE(library.ok());
  EXPECT_NE(library.error().message.find("mine/codr.txt"), std::string::npos);
}

TEST(PromptLibrary, MissingIncludeAndMalformedTemplateAreErrors) {
  FakeFileSystem fs;
  Put(fs, "mine/complaint.txt", "{{> nowhere}}");
  const auto missing = PromptLibrary::Open(fs, {.folder = "mine"});
  ASSERT_TRUE(missing.ok());
  EXPECT_FALSE(missing->Render("complaint", {}).ok());
  Put(fs, "bad/complaint.txt", "{{#open}}");
  const auto malformed = PromptLibrary::Open(fs, {.folder = "bad"});
  ASSERT_TRUE(malformed.ok());
  EXPECT_FALSE(malformed->Render("complaint", {{"open", "1"}}).ok());
}

TEST(PromptLibrary, LanguagesHaveTheSamePrompts) {
  FakeFileSystem fs;
  EXPECT_TRUE(PromptLibrary::Open(fs, {.language = "zh"}).ok());
  const auto unknown = PromptLibrary::Open(fs, {.language = "xx"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("'xx'"), std::string::npos);
}

}  // namespace
}  // namespace kerf::llm

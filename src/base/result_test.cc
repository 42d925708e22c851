#include "base/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace kerf {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidInput("odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  KERF_ASSIGN_OR_RETURN(const int half, Half(value));
  KERF_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status CheckQuarter(int value) {
  KERF_RETURN_IF_ERROR(Quarter(value));
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*Half(4), 2);
  const Result<int> failed = Half(3);
  EXPECT_FALSE(failed.ok());
  EXPECT_FALSE(static_cast<bool>(failed));
  EXPECT_EQ(failed.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(failed.error().message, "odd");
}

TEST(Result, MacrosReturnTheFirstError) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_FALSE(Quarter(6).ok());
  EXPECT_TRUE(CheckQuarter(8).ok());
  EXPECT_EQ(CheckQuarter(7).error().message, "odd");
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 5);
}

TEST(Result, UsingTheWrongSideIsABug) {
  EXPECT_EXIT((void)Half(3).value(), ::testing::ExitedWithCode(70), "failed Result");
  EXPECT_EXIT((void)Half(4).error(), ::testing::ExitedWithCode(70), "successful Result");
  EXPECT_EXIT((void)Status().error(), ::testing::ExitedWithCode(70), "successful Result");
}

TEST(Error, WithinPrependsWhatWasGoingOn) {
  EXPECT_EQ(NotFound("no file x").Within("reading y").message, "reading y: no file x");
  EXPECT_EQ(NotFound("x").Within("y").code, ErrorCode::kNotFound);
}

TEST(Error, ErrnoPicksTheCodeAndTheAdvice) {
  EXPECT_EQ(ErrnoError("read", "/x", ENOENT).code, ErrorCode::kNotFound);
  EXPECT_EQ(ErrnoError("read", "/x", EACCES).code, ErrorCode::kDenied);
  EXPECT_EQ(ErrnoError("read", "/x", EROFS).code, ErrorCode::kDenied);
  EXPECT_EQ(ErrnoError("read", "/x", ELOOP).code, ErrorCode::kDenied);
  EXPECT_EQ(ErrnoError("read", "/x", ENAMETOOLONG).code, ErrorCode::kInvalidInput);
  const Error full = ErrnoError("write", "/x/y", ENOSPC);
  EXPECT_EQ(full.code, ErrorCode::kIo);
  EXPECT_THAT(full.message, HasSubstr("cannot write /x/y: No space left on device"));
  EXPECT_THAT(full.message, EndsWith("choose another directory"));
}

TEST(Error, CodeNamesAreDistinct) {
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kInvalidInput), "invalid_input");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kNotFound), "not_found");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kCorrupt), "corrupt");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kUnavailable), "unavailable");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kTimeout), "timeout");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kDenied), "denied");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kIo), "io");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kInternal), "internal");
}

}  // namespace
}  // namespace kerf

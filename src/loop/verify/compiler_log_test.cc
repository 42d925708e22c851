#include "loop/verify/compiler_log.h"

#include <gtest/gtest.h>

namespace kerf::verify {
namespace {

TEST(CompilerLog, KeepsTheErrorAndDropsTheNoise) {
  const CompilerLog log = CleanCompilerLog(R"(In file included from relu.cc:1:
relu.cc: In function 'int kerf_kernel(const kerf_call*)':
relu.cc:2:10: warning: unused variable 'x'
    2 |   int x;
relu.cc:3:10: error: 'y' was not declared in this scope
    3 |   return y;
      |          ^
relu.cc:3:10: note: suggested alternative: 'yn'
)");
  EXPECT_EQ(log.text,
            "relu.cc:3:10: error: 'y' was not declared in this scope\n    3 |   return y;\n      | "
            "         ^\n");
  EXPECT_EQ(log.reason, "syntax");
  EXPECT_EQ(log.errors, 1U);
}

TEST(CompilerLog, NamesMissingHeadersAndSymbols) {
  EXPECT_EQ(CleanCompilerLog("a.cc:1:10: fatal error: foo.h: No such file or directory\n").reason,
            "missing_header");
  EXPECT_EQ(CleanCompilerLog(
                "/usr/bin/ld: a.o: undefined reference to `f'\ncollect2: error: ld returned 1\n")
                .reason,
            "undefined_symbol");
  EXPECT_EQ(CleanCompilerLog("kernel.cu(3): error: identifier \"y\" is undefined\n").reason,
            "syntax");
}

TEST(CompilerLog, ShowsTheEndWhenThereIsNoError) {
  const CompilerLog log = CleanCompilerLog("something odd happened\n");
  EXPECT_EQ(log.reason, "other");
  EXPECT_EQ(log.text, "something odd happened\n");
}

TEST(CompilerLog, IsBounded) {
  std::string raw;
  for (int i = 0; i < 10000; ++i) raw += "a.cc:" + std::to_string(i) + ":1: error: wrong\n";
  const CompilerLog log = CleanCompilerLog(raw, 1000);
  EXPECT_LT(log.text.size(), 1100U);
  EXPECT_EQ(log.errors, 10000U);
  EXPECT_NE(log.text.find("more errors"), std::string::npos);
}

}  // namespace
}  // namespace kerf::verify

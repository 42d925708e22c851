#include "replay/kernel/kernel_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kerf::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kEntry = "extern \"C\" __aicore__ void kernel_entry(__gm__ int64_t *args) {\n";

TEST(KernelScan, FindsTheSlotsTheCodeReads) {
  const KernelFacts facts =
      ScanKernel(kEntry + "auto *x = (T *)(args[0]); f(args[ 3 ], args[0x0A]); }");
  EXPECT_TRUE(facts.has_entry);
  EXPECT_THAT(facts.slots, ElementsAre(0, 3, 10));
  EXPECT_FALSE(facts.computed_slots);
  EXPECT_FALSE(facts.needs_context);
}

TEST(KernelScan, DoesNotCountCommentsStringsAndDeadCode) {
  const KernelFacts facts =
      ScanKernel(kEntry +
                 "// args[10] = scale\n"
                 "/* args[11]\n args[48] */\n"
                 "// joined \\\n args[12]\n"
                 "const char *t = \"args[13] \\\" args[14]\"; char q = '\"';\n"
                 "const char *r = R\"x(args[15])\" )x\";\n"
                 "#if 0\n args[16];\n#ifdef A\n args[17];\n#endif\n#else\n"
                 "args[1];\n#endif\n"
                 "int n = 1'000; args[2]; }");
  EXPECT_THAT(facts.slots, ElementsAre(1, 2));
  EXPECT_FALSE(facts.needs_context);
}

TEST(KernelScan, TakesTheParametersName) {
  const KernelFacts facts = ScanKernel(
      "extern \"C\" __aicore__ void kernel_entry( __gm__ int64_t* __restrict__ slots )\n"
      "{ use(slots[4]); other[7]; }");
  EXPECT_TRUE(facts.has_entry);
  EXPECT_THAT(facts.slots, ElementsAre(4));
}

TEST(KernelScan, WantsOnePointerToInt64) {
  EXPECT_TRUE(ScanKernel("void kernel_entry(__gm__ int64_t *) {}").has_entry);
  for (const char* text :
       {"void kernel_entry(__gm__ int64_t *args, int n) {}", "void kernel_entry() {}",
        "void kernel_entry(int64_t args) {}", "void kernel_entry(__gm__ float *args) {}",
        "void kernel_entry(int64_t **args) {}", "// void kernel_entry(int64_t *args) {}",
        "void my_kernel_entry(int64_t *args) {}", "void kernel_entry", "kernel_entry("}) {
    EXPECT_FALSE(ScanKernel(text).has_entry) << text;
  }
}

TEST(KernelScan, ResolvesConstantsOfTheFile) {
  const KernelFacts facts =
      ScanKernel("constexpr int kOut = 5;\n#define SCALE_SLOT 6\nenum { kLen = 7, };\n" + kEntry +
                 "args[kOut]; args[SCALE_SLOT]; args[kLen]; }");
  EXPECT_THAT(facts.slots, ElementsAre(5, 6, 7));
  EXPECT_FALSE(facts.computed_slots);
}

TEST(KernelScan, SaysThatSomeSlotsAreComputed) {
  EXPECT_TRUE(ScanKernel(kEntry + "for (int i = 0; i < n; ++i) args[i]; }").computed_slots);
  EXPECT_TRUE(ScanKernel(kEntry + "args[base + 1]; }").computed_slots);
  EXPECT_TRUE(
      ScanKernel("int k = 1;\nint f() { k = 2; }\n" + kEntry + "args[k]; }").computed_slots);
}

TEST(KernelScan, SeesWhoNeedsAContext) {
  EXPECT_TRUE(ScanKernel(kEntry + "get_block_idx(args); }").needs_context);
  EXPECT_TRUE(ScanKernel(kEntry + "get_sub_block_id ( args ); }").needs_context);
  EXPECT_TRUE(ScanKernel(kEntry + "args[SPMD_LOCAL_CONTEXT_INDEX]; }").needs_context);
  EXPECT_TRUE(ScanKernel(kEntry + "args[48]; }").needs_context);
  EXPECT_FALSE(ScanKernel(kEntry + "get_block_idx(); }").needs_context);
}

TEST(KernelScan, KeepsLinesAndLength) {
  const std::string text = "a /* b\nc */ d // e\n\"f\n";
  const std::string code = CodeOnly(text);
  EXPECT_EQ(code.size(), text.size());
  EXPECT_EQ(std::count(code.begin(), code.end(), '\n'), 3);
  EXPECT_EQ(code, "a     \n     d     \n  \n");
}

TEST(KernelScan, SurvivesUnfinishedText) {
  for (const char* text :
       {"/*", "\"", "'", "R\"x(", "#if 0", "args[", "args[[[", "kernel_entry(("}) {
    EXPECT_THAT(ScanKernel(text).slots, IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace kerf::kernel

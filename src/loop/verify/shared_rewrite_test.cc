#include "loop/verify/shared_rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kerf::verify {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Rewrite(const std::string& source, bool check = true) {
  return RewriteForSimt(source, {.check_shared = check}).text;
}
std::string Body(const std::string& statements, bool check = true) {
  return Rewrite("__global__ void k() { " + statements + " }", check);
}

TEST(SharedRewrite, DeclaresReferences) {
  EXPECT_EQ(Rewrite("void k() { __shared__ float a[2][3]; }"),
            "void k() { typedef  float kerf_simt_t_a[2][3]; static ::kerf_simt::Slot "
            "kerf_simt_s_a; auto& a = "
            "::kerf_simt::StaticShared<kerf_simt_t_a>(kerf_simt_s_a, \"a\", 16); }");
  EXPECT_EQ(Rewrite("void k() { extern __shared__ T d[]; }"),
            "void k() { typedef   T kerf_simt_t_d[]; auto& d = "
            "::kerf_simt::DynamicShared<kerf_simt_t_d>(); }");
}

TEST(SharedRewrite, UnderstandsTypesAndSeveralDeclarators) {
  const std::string text = Body("static __shared__ typename A<T, 4>::B x, y[N * (M + 1)];");
  EXPECT_THAT(text, HasSubstr("typename A<T, 4>::B kerf_simt_t_x, kerf_simt_t_y[N * (M + 1)];"));
  EXPECT_THAT(text, HasSubstr("auto& x ="));
  EXPECT_THAT(text, HasSubstr("auto& y ="));
  EXPECT_THAT(Body("volatile __shared__ unsigned int u[8];"),
              HasSubstr("typedef volatile  unsigned int kerf_simt_t_u[8];"));
}

TEST(SharedRewrite, TakesAlignmentOutOfTheType) {
  for (const char* word : {"__align__(128)", "alignas(128)", "__attribute__((aligned(128)))"}) {
    const std::string text = Body("__shared__ " + std::string(word) + " float a[4];");
    EXPECT_THAT(text, HasSubstr("float kerf_simt_t_a[4]")) << word;
    EXPECT_THAT(text, HasSubstr("128")) << word;
    EXPECT_THAT(text, Not(HasSubstr(word))) << word;
  }
}

TEST(SharedRewrite, MarksReadsWritesAndUpdates) {
  const std::string text =
      Body("__shared__ float s[8]; s[0] = s[1]; s[2] += 1; ++s[3]; f(&s[4]); s[5].x = 1;");
  EXPECT_THAT(text, HasSubstr("::kerf_simt::W(s, \"s\")[0] = ::kerf_simt::R(s, \"s\")[1];"));
  EXPECT_THAT(text, HasSubstr("::kerf_simt::U(s, \"s\")[2] +="));
  EXPECT_THAT(text, HasSubstr("++::kerf_simt::U(s, \"s\")[3]"));
  EXPECT_THAT(text, HasSubstr("f(&::kerf_simt::A(s, \"s\")[4])"));
  EXPECT_THAT(text, HasSubstr("::kerf_simt::A(s, \"s\")[5].x"));
}

TEST(SharedRewrite, TellsAddressFromBitwiseAnd) {
  EXPECT_THAT(Body("__shared__ int s[8]; x = y & s[1];"), HasSubstr("y & ::kerf_simt::R(s"));
  EXPECT_THAT(Body("__shared__ int s[8]; x = (int4*)&s[1];"),
              HasSubstr("(int4*)&::kerf_simt::A(s"));
  EXPECT_THAT(Body("__shared__ int s; x = s & 1; p = &s;"),
              HasSubstr("::kerf_simt::R(s, \"s\") & 1; p = &s;"));
}

TEST(SharedRewrite, LeavesOtherUsesAlone) {
  const std::string text = Body(
      "__shared__ float s[2][3]; float* row = s[1]; g(s); a.s[0] = 1; b->s[0] = sizeof(s); "
      "memcpy(s, p, 4);");
  EXPECT_THAT(text, HasSubstr("= s[1]; g(s); a.s[0] = 1; b->s[0] = sizeof(s); memcpy(s, p, 4);"));
}

TEST(SharedRewrite, FollowsPointersIntoSharedMemory) {
  const std::string text = Body(
      "extern __shared__ char raw[]; float* a = (float*)raw; float* const b = a + 4; a[0] = b[1]; "
      "float* c = x; c[0] = 1;");
  EXPECT_THAT(text, HasSubstr("::kerf_simt::W(a, \"a\")[0] = ::kerf_simt::R(b, \"b\")[1];"));
  EXPECT_THAT(text, HasSubstr(" c[0] = 1;"));
}

TEST(SharedRewrite, EndsWithTheScope) {
  const std::string text =
      Rewrite("void k() { { __shared__ int s[2]; } s[0] = 1; } void j(int* s) { s[1] = 1; }");
  EXPECT_THAT(text, HasSubstr("} s[0] = 1; }"));
  EXPECT_THAT(text, HasSubstr("{ s[1] = 1; }"));
}

TEST(SharedRewrite, IsNotFooledByHiddenNames) {
  EXPECT_THAT(Body("__shared__ int s; { int s = 0; s += 1; } s = 2;"),
              HasSubstr("int s = 0; s += 1; } ::kerf_simt::W(s"));
}

TEST(SharedRewrite, HandlesFileScope) {
  const std::string text =
      Rewrite("namespace n { extern __shared__ float d[]; __global__ void k() { d[0] = 1; } }");
  EXPECT_THAT(text, HasSubstr("typedef   float kerf_simt_t_d[];"));
  EXPECT_THAT(text, HasSubstr("(::kerf_simt::DynamicShared<kerf_simt_t_d>())[0] = 1;"));
}

TEST(SharedRewrite, CountsBracesOfConditionalBranchesOnce) {
  const std::string text = Rewrite(
      "void k() {\n__shared__ int s[2];\n#if A\nif (x) {\n#else\nif (y) {\n#endif\ns[0] = "
      "1;\n}\ns[1] = 1;\n}\nint* s; void j() { s[0] = 1; }");
  EXPECT_THAT(text, HasSubstr("::kerf_simt::W(s, \"s\")[1] = 1;"));
  EXPECT_THAT(text, HasSubstr("void j() { s[0] = 1; }"));
}

TEST(SharedRewrite, KeepsWarpSynchronousCodeInStep) {
  const std::string text = Rewrite(
      "void w(volatile float* s, int t) { s[t] += s[t + 1]; } void v(float* s) { s[0] = 1; }");
  EXPECT_THAT(text, HasSubstr("{ ::kerf_simt::Step(), ::kerf_simt::U(s, \"s\")[t] += "));
  EXPECT_THAT(text, HasSubstr("{ s[0] = 1; }"));
  EXPECT_THAT(Body("volatile __shared__ int s[2]; if (x) s[0] = s[1];"),
              HasSubstr("if (x) ::kerf_simt::Step(), "));
  EXPECT_THAT(Body("volatile __shared__ int s[2]; s[0] = 1;"), Not(HasSubstr("Step")));
}

TEST(SharedRewrite, CanLeaveUsesUnchecked) {
  EXPECT_THAT(Body("__shared__ int s[2]; s[0] = 1;", false), HasSubstr("; s[0] = 1;"));
}

}  // namespace
}  // namespace kerf::verify

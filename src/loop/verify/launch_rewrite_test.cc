#include "loop/verify/launch_rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kerf::verify {
namespace {

std::string Kernel(std::string_view source) {
  const auto sites = FindLaunches(source);
  return sites.size() == 1 ? sites[0].kernel : std::to_string(sites.size()) + " launches";
}

TEST(FindLaunches, GivesTheParts) {
  const std::string source = "void f() {\n  k<float, 4><<<dim3(1, 2), 32, 0, s>>>(a, g(b));\n}\n";
  const auto sites = FindLaunches(source);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].kernel, "k<float, 4>");
  EXPECT_EQ(sites[0].config, "dim3(1, 2), 32, 0, s");
  EXPECT_EQ(sites[0].arguments, "a, g(b)");
  EXPECT_EQ(sites[0].line, 2);
  EXPECT_EQ(source.substr(sites[0].begin, 2), "k<");
  EXPECT_EQ(source.substr(sites[0].end, 1), ";");
}

TEST(FindLaunches, ReadsEveryFormOfKernelName) {
  EXPECT_EQ(Kernel("else k<<<1,1>>>();"), "k");
  EXPECT_EQ(Kernel("return ::k<<<1,1>>>();"), "::k");
  EXPECT_EQ(Kernel("x; a::b::k<T><<<1,1>>>();"), "a::b::k<T>");
  EXPECT_EQ(Kernel("A<T, (N > 4)>::template k<B<C>><<<1,1>>>();"),
            "A<T, (N > 4)>::template k<B<C>>");
  EXPECT_EQ(Kernel("(k<A>)<<<1,1>>>();"), "(k<A>)");
  EXPECT_EQ(Kernel("if (x) k<<<1,1>>>();"), "k");
  EXPECT_EQ(Kernel("table[i + 1]<<<1,1>>>();"), "table[i + 1]");
  EXPECT_EQ(Kernel("p->fn<<<1,1>>>();"), "p->fn");
  EXPECT_EQ(Kernel("#define L(n) n##_kernel<<<1,1>>>()\n"), "n##_kernel");
  EXPECT_EQ(Kernel("k < // comment\n 4 >\n <<<1,1>>> (x);"), "k < 4 >");
}

TEST(FindLaunches, IsNotFooledByTextAndOperators) {
  EXPECT_EQ(Kernel("// k<<<1,1>>>()\nconst char* s = \"k<<<1,1>>>()\";"), "0 launches");
  EXPECT_EQ(Kernel("friend S& operator<<<T>(S&, const T&);"), "0 launches");
  EXPECT_EQ(Kernel("a << b; c >> d;"), "0 launches");
  EXPECT_EQ(Kernel("k<<<1, 2; "), "0 launches");
}

TEST(FindLaunches, FindsThemInLambdasAndMacroArguments) {
  EXPECT_EQ(
      FindLaunches("D(t, \"x\", ([&] { k<scalar_t><<<g, b>>>(x); j<<<g, b>>>(y); }));").size(), 2u);
}

TEST(ReplaceLaunches, PutsWordsAroundTheParts) {
  const std::string source = "k<T>\n<<<g,\n b>>>\n(x, y);";
  const auto text = ReplaceLaunches(source, FindLaunches(source), [](const LaunchSite& site) {
    return LaunchWords{"launch(\"" + site.kernel + "\", ", ", C(", "), ", ")"};
  });
  EXPECT_EQ(text, "launch(\"k<T>\", k<T>\n, C(g,\n b\n), x, y);");
}

TEST(RewriteForSimt, KeepsEveryLine) {
  const std::string source =
      "__global__ void k(float* x) {\n  __shared__ float\n    a[4],\n    b;\n  a[0] = b;\n}\nvoid "
      "f() {\n  k<<<\n1,\n2\n>>>\n(\nx\n);\n}";
  const std::string text = RewriteForSimt(source, {}).text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            std::count(source.begin(), source.end(), '\n'));
}

TEST(RewriteForSimt, LeavesPlainSourcesAlone) {
  const std::string source = "int main() { return 1 << 2 >> 1; } // __shared__ <<<\n";
  EXPECT_EQ(RewriteForSimt(source, {}).text, source);
}

TEST(RewriteForSimt, TurnsNullArgumentsIntoPointers) {
  const std::string text =
      RewriteForSimt("void f() { k<<<1,1>>>(NULL, x == NULL, NULL); p = NULL; }", {}).text;
  EXPECT_NE(text.find("Run(nullptr, x == NULL, nullptr); p = NULL;"), std::string::npos) << text;
}

TEST(RewriteForSimt, ReportsAssembly) {
  const SimtSource out =
      RewriteForSimt("void f() {\n asm(\"mov\"); asm volatile(\"\" ::: \"memory\"); }", {});
  ASSERT_EQ(out.unsupported.size(), 1u);
  EXPECT_EQ(out.unsupported[0].line, 2);
}

TEST(RewriteForSimt, TakesTorchTensorsOnTheCpu) {
  const std::string source = "TORCH_CHECK(x.is_cuda()); auto o = torch::device(torch::kCUDA);";
  EXPECT_EQ(RewriteForSimt(source, {}).text, source);
  EXPECT_EQ(RewriteForSimt(source, {.torch = true}).text,
            "TORCH_CHECK(x.is_cpu()); auto o = torch::device(torch::kCPU);");
}

}  // namespace
}  // namespace kerf::verify

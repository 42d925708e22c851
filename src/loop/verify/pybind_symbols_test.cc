#include "loop/verify/pybind_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kerf::verify {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Names(const std::vector<NamedPlace>& places) {
  std::vector<std::string> names;
  for (const NamedPlace& place : places) names.push_back(place.name);
  return names;
}

TEST(BoundSymbols, FindsDefsChainsAttributesAndClasses) {
  const BoundSymbols bound = FindBoundSymbols(R"cpp(
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, mod) {
      mod.def("forward", &forward, "text, with (brackets)", py::arg("x") = 1)
          .def(
              "back"
              "ward",
              &b);
      mod.attr("kBlock") = 256;
      py::class_<Op>(mod, "Op").def(py::init<>()).def("run", &Op::run);
    })cpp");
  EXPECT_TRUE(bound.any_name());
  EXPECT_TRUE(bound.certain);
  EXPECT_THAT(Names(bound.names), ElementsAre("forward", "backward", "kBlock", "Op"));
  EXPECT_EQ(bound.names[0].line, 3);
}

TEST(BoundSymbols, IgnoresCommentsStringsAndHiddenCode) {
  const BoundSymbols bound = FindBoundSymbols(
      "const char* help = \"m.def(\\\"no\\\")\";\n"
      "PYBIND11_MODULE(rowscale_hip, m) {\n"
      "  // m.def(\"comment\", &f);\n"
      "#if 0\n  m.def(\"hidden\", &f);\n#else\n  m.def(\"shown\", &f);\n#endif\n"
      "  /* m.def(\"block\", &f); */ m.def(R\"(raw)\", &f);\n}\n");
  EXPECT_EQ(bound.module, "rowscale_hip");
  EXPECT_THAT(Names(bound.names), ElementsAre("shown", "raw"));
  EXPECT_TRUE(bound.certain);
}

TEST(BoundSymbols, SaysWhenMoreMayBeBound) {
  for (const char* body : {"register_all(m);", "m.def(kName, &f);", "BIND(forward);"}) {
    const std::string source = std::string("PYBIND11_MODULE(x, m) { ") + body + " }";
    EXPECT_FALSE(FindBoundSymbols(source).certain) << body;
  }
  EXPECT_FALSE(FindBoundSymbols("#define EXPORT PYBIND11_MODULE(x, m)\nEXPORT {}").certain);
}

TEST(BoundSymbols, ReadsOperatorSchemas) {
  const BoundSymbols bound = FindBoundSymbols(
      "TORCH_LIBRARY(mine, m) { m.def(\"mine::add.out(Tensor a, Tensor b) -> Tensor\"); "
      "m.def(\"mul\", &mul); }\nTORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl(\"add\", &add); }");
  EXPECT_EQ(bound.library, "mine");
  EXPECT_THAT(Names(bound.operators), ElementsAre("add", "mul"));
  EXPECT_EQ(bound.module, "");
}

TEST(BoundSymbols, SurvivesTornSources) {
  for (const char* source : {"PYBIND11_MODULE(", "PYBIND11_MODULE(a, m) { m.def(", "TORCH_LIBRARY",
                             "PYBIND11_MODULE(a, m) { m.def(\"x", "#if", "m.", ""}) {
    FindBoundSymbols(source);
  }
}

BoundSymbols Bound(const std::string& module, const std::vector<std::string>& names) {
  BoundSymbols bound;
  bound.module = module;
  for (const std::string& name : names) bound.names.push_back({name, 1});
  return bound;
}

TEST(UsedSymbols, FollowsImportsAndAliases) {
  const UsedSymbols used = FindUsedSymbols(R"py(
import torch, rowscale as ext
from rowscale import scale as s, shift
def test():
    x = torch.randn(3)
    ext.run(x)  # ext.comment(x)
    getattr(ext, "named")(x)
    text = "ext.string(x)"
    return s(x) + shift(x)
result_gold = test()
)py",
                                           Bound("TORCH_EXTENSION_NAME", {}));
  EXPECT_EQ(used.module, "rowscale");
  EXPECT_TRUE(used.certain);
  EXPECT_THAT(Names(used.names), ElementsAre("scale", "shift", "run", "named"));
}

TEST(UsedSymbols, FindsBareCallsThatNobodyDefines) {
  const UsedSymbols used = FindUsedSymbols(R"py(
import torch
def check(fn, n: int = 3):
    for size in range(n):
        out = torch.zeros(size)
        embedding(out, weight=torch.ones(1))
        fn(out)
    print(len(out), [max(v) for v in out])
    with torch.no_grad() as guard: guard(out)
    return (lambda f: f(out))(abs)
check(print)
)py",
                                           Bound("TORCH_EXTENSION_NAME", {}));
  EXPECT_EQ(used.module, "");
  EXPECT_THAT(Names(used.names), ElementsAre("embedding"));
  EXPECT_EQ(used.names[0].line, 6);
}

TEST(UsedSymbols, IsNotCertainWhenTheTestIsPrepared) {
  const BoundSymbols bound = Bound("e", {});
  EXPECT_FALSE(FindUsedSymbols("import e\nif hasattr(e, 'x'): e.x()\n", bound).certain);
  EXPECT_FALSE(FindUsedSymbols("import e\ntry:\n  e.x()\nexcept E: pass\n", bound).certain);
  EXPECT_FALSE(FindUsedSymbols("from e import *\nx()\n", bound).certain);
  EXPECT_FALSE(FindUsedSymbols("import one_ext\nimport other_ext\none_ext.x()\n", bound).certain);
  EXPECT_THAT(FindUsedSymbols("import e\ngetattr(e, 'x', None)\n", bound).names, IsEmpty());
}

TEST(SymbolDiagnosis, NamesWhatIsMissingAndWhatWasMeant) {
  const BoundSymbols bound = Bound("TORCH_EXTENSION_NAME", {"kernel_function", "helper"});
  const UsedSymbols used =
      FindUsedSymbols("import m_hip\nm_hip.call_kernel()\nm_hip.Helper()\n", bound);
  const SymbolDiagnosis found = DiagnoseSymbols(bound, used);
  ASSERT_TRUE(found.mismatch());
  ASSERT_EQ(found.missing.size(), 2);
  EXPECT_EQ(found.missing[0].used.name, "call_kernel");
  EXPECT_THAT(found.missing[1].near, ElementsAre("helper"));
  EXPECT_THAT(found.text, HasSubstr("the test calls call_kernel (line 2), which the extension does "
                                    "not bind; bound: kernel_function, helper"));
  EXPECT_THAT(found.text, HasSubstr("did you mean helper?"));
  EXPECT_THAT(found.unused, ElementsAre("kernel_function", "helper"));
}

TEST(SymbolDiagnosis, AcceptsWhatFits) {
  const BoundSymbols bound = Bound("e", {"run"});
  const SymbolDiagnosis found =
      DiagnoseSymbols(bound, FindUsedSymbols("import e\ne.run()\n", bound));
  EXPECT_FALSE(found.mismatch());
  EXPECT_EQ(found.text, "");
}

TEST(SymbolDiagnosis, NoticesAnotherModuleName) {
  const BoundSymbols bound = Bound("first", {"run"});
  const SymbolDiagnosis found =
      DiagnoseSymbols(bound, FindUsedSymbols("import second\nsecond.run()\n", bound));
  EXPECT_EQ(found.wrong_module, "first");
  EXPECT_THAT(found.text, HasSubstr("the test imports second"));
}

}  // namespace
}  // namespace kerf::verify

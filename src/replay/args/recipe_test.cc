#include "replay/args/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/args/recipe_expression.h"

namespace kerf::args {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Value(const std::string& text,
                  const RecipeNames& names = {{"n", int64_t{10}}, {"f", 0.5}}) {
  const auto value = Evaluate(text, names);
  return value.ok() ? RecipeLiteral(*value) : value.error().message;
}

TEST(RecipeExpression, Computes) {
  EXPECT_EQ(Value("2 + 3 * 4"), "14");
  EXPECT_EQ(Value("(2 + 3) * -n"), "-50");
  EXPECT_EQ(Value("n / 5 % 2"), "0");
  EXPECT_EQ(Value("n <= 16 ? 16 : 64"), "16");
  EXPECT_EQ(Value("n > 16 ? 16 : n == 10 ? 1 : 2"), "1");
  EXPECT_EQ(Value("scale ?? f * 2"), "1.0");
  EXPECT_EQ(Value("n ?? 3"), "10");
  EXPECT_EQ(Value("ceil_div(n, 4) + min(n, 3) - max(1, 2)"), "4");
  EXPECT_EQ(Value("1.0"), "1.0");
}

TEST(RecipeExpression, SaysWhatIsWrong) {
  EXPECT_THAT(Value("scale"), HasSubstr("'scale' is no parameter of the case"));
  EXPECT_THAT(Value("scale * 2"), HasSubstr("'scale' is no parameter of the case"));
  EXPECT_THAT(Value("n / 3"), HasSubstr("10 / 3 leaves a rest"));
  EXPECT_THAT(Value("n / 0"), HasSubstr("division by zero"));
  EXPECT_THAT(Value("n +"), HasSubstr("a value is missing"));
  EXPECT_THAT(Value("(n"), HasSubstr("')' is missing"));
  EXPECT_THAT(Value("n n"), HasSubstr("something is left over"));
  EXPECT_THAT(Value("pow(n, 2)"), HasSubstr("no function pow"));
  EXPECT_THAT(Value("9223372036854775807 * 2"), HasSubstr("beyond 64 bits"));
  EXPECT_THAT(Value(std::string(300, '(')), HasSubstr("nested too deeply"));
}

JsonNode Params(const std::string& json) { return JsonDocument::Parse("p", json)->root().node(); }

KernelArgs Recipe(const std::string& folder, const std::string& kernel, const std::string& params,
                  std::vector<SpmdDispatch>* dispatches = nullptr) {
  auto result = ApplyRecipes(BuiltInRecipes(),
                             {.module_folder = folder, .kernel = kernel, .params = Params(params)});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  EXPECT_TRUE(result.ok() && result->has_value()) << folder << "/" << kernel;
  if (!result.ok() || !*result) return {};
  if (dispatches != nullptr) *dispatches = (*result)->dispatches;
  return (*result)->args;
}

const char* const kSmall =
    R"({"batch":1,"num_heads":16,"kv_head_num":1,"head_dim":16,"block_size":16,"context_len":33,"max_model_len":256})";

TEST(Recipe, SoftmaxOfASmallCaseIsTheDocumentedOne) {
  const KernelArgs args = Recipe("paged_attention", "SF", kSmall);
  ASSERT_EQ(args.args.size(), 5U);
  EXPECT_EQ(DescribeTensor(*args.args[0].tensor()), "FLOAT32[16, 16]");
  EXPECT_EQ(DescribeTensor(*args.args[1].tensor()), "BFLOAT16[16, 16]");
  EXPECT_EQ(DescribeTensor(*args.args[2].tensor()), "FLOAT32[16]");
  EXPECT_EQ(DescribeTensor(*args.args[3].tensor()), "FLOAT32[16]");
  EXPECT_EQ(args.args[4].scalar()->bits, 0x3F800000U);
  EXPECT_EQ(
      Recipe("paged_attention", "SF", R"({"block_size":16,"scale":0.125})").args[4].scalar()->bits,
      0x3E000000U);
}

TEST(Recipe, VariantsShareNamesAndNotSlots) {
  const auto slots = [](const std::string& folder, const std::string& kernel) {
    std::vector<int> list;
    for (const KernelArg& arg : Recipe(folder, kernel, kSmall).args) list.push_back(arg.slot);
    return list;
  };
  EXPECT_THAT(slots("paged_attention", "QK"), ElementsAre(0, 1, 2, 4, 5));
  EXPECT_THAT(slots("paged_attention", "UP"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 10));
  EXPECT_THAT(slots("paged_attention_unroll", "QK"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(slots("paged_attention_unroll", "SF"), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(slots("batch_paged_attention", "QK").size(), 10U);
  EXPECT_THAT(slots("batch_paged_attention", "PV").size(), 8U);
  EXPECT_THAT(slots("paged_attention_ringbuffer", "aiv_softmax_prepare").size(), 9U);
  EXPECT_THAT(slots("batch_paged_attention", "UP").size(), 13U);
}

TEST(Recipe, RingsAreAsLargeAsTheGrid) {
  std::vector<SpmdDispatch> dispatches;
  const KernelArgs args = Recipe("spmd_paged_attention", "PA_AIV", kSmall, &dispatches);
  EXPECT_EQ(args.args.size(), 17U);
  ASSERT_EQ(dispatches.size(), 1U);
  EXPECT_EQ(dispatches[0].blocks, 24);
  EXPECT_EQ(args.args[6].tensor()->buffer_bytes(), 24U * 65536U);
  EXPECT_EQ(args.args[7].tensor()->buffer_bytes(), 24U * 32768U);
  EXPECT_EQ(args.args[8].tensor()->buffer_bytes(), 24U * 65536U);
  EXPECT_EQ(args.args[4].tensor()->fill_bits, 33U) << "lengths steer the loops";
}

TEST(Recipe, MultiblockMixHasFiveDispatches) {
  std::vector<SpmdDispatch> dispatches;
  const KernelArgs args = Recipe("spmd_multiblock_mix", "SPMD_MIX_AIC", "{}", &dispatches);
  EXPECT_EQ(args.args[0].tensor()->numel(), 94 * 3 * 16);
  ASSERT_EQ(dispatches.size(), 5U);
  EXPECT_EQ(dispatches[4].blocks, 48);
  EXPECT_THAT(dispatches[4].overrides, ElementsAre(std::pair{1, uint64_t{138}}));
}

TEST(Recipe, SaysWhichParameterTheCaseLacks) {
  const auto result =
      ApplyRecipes(BuiltInRecipes(),
                   {.module_folder = "paged_attention", .kernel = "QK", .params = Params("{}")});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message,
              HasSubstr("recipes/paged_attention.json: kernels[0].args[0].shape[1]: \"head_dim\": "
                        "'head_dim' is no parameter of the case"));
}

TEST(Recipe, IsNotGuessedByTheKernelsName) {
  const auto result = ApplyRecipes(
      BuiltInRecipes(), {.module_folder = "another", .kernel = "SF", .params = Params(kSmall)});
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->has_value());
}

TEST(Recipe, EveryBuiltInOneWorksForASmallCase) {
  size_t kernels = 0;
  for (const RecipeFile& file : BuiltInRecipes()) {
    const auto document = JsonDocument::Parse(std::string(file.name), file.text);
    ASSERT_TRUE(document.ok()) << document.error().message;
    for (const JsonPlace& module : document->root().Member("modules")->Items()) {
      for (const JsonPlace& kernel : document->root().Member("kernels")->Items()) {
        for (const JsonPlace& name : kernel.Member("names")->Items()) {
          EXPECT_FALSE(Recipe(*module.String(), *name.String(), kSmall).args.empty());
          ++kernels;
        }
      }
    }
  }
  EXPECT_GE(kernels, 40U);
}

SceneClass VectorClass() {
  SceneClass one{.name = "T", .orchestration_signature = {"IN", "OUT"}};
  one.args = {{.name = "a", .dtype = "FLOAT32", .shape = {8}, .fill = Params("2.0")},
              {.name = "f", .dtype = "FLOAT32", .shape = {8}},
              {.is_tensor = false, .name = "alpha", .ctype = "c_float", .value = Params("0.5")}};
  return one;
}

TEST(SceneArgs, AreTheKernelsWhenTheSignatureIs) {
  const auto args = ArgsFromScene(VectorClass(), {.name = "K", .signature = {"IN", "OUT"}});
  ASSERT_TRUE(args.ok()) << args.error().message;
  EXPECT_EQ(args->args[0].tensor()->fill_bits, 0x40000000U);
  EXPECT_EQ(args->args[1].tensor()->role, ArgRole::kOutput);
  EXPECT_EQ(args->args[2].scalar()->bits, 0x3F000000U);
}

TEST(SceneArgs, AreRefusedOtherwise) {
  const auto why = [](const SceneClass& one, std::vector<std::string> signature) {
    const auto args = ArgsFromScene(one, {.name = "K", .signature = std::move(signature)});
    return args.ok() ? "accepted" : args.error().message;
  };
  EXPECT_THAT(why(VectorClass(), {"IN", "IN"}),
              HasSubstr("does not take the orchestration's arguments"));
  EXPECT_THAT(why(VectorClass(), {}), HasSubstr("does not take the orchestration's arguments"));
  SceneClass unknown = VectorClass();
  unknown.args.reset();
  unknown.args_problem = {"/m.py", 9, "calls f()"};
  EXPECT_THAT(why(unknown, {"IN", "OUT"}), HasSubstr("could not be evaluated: /m.py:9: calls f()"));
  SceneClass fewer = VectorClass();
  fewer.args->erase(fewer.args->begin());
  EXPECT_THAT(why(fewer, {"IN", "OUT"}), HasSubstr("has 2 tensors, generate_args makes 1"));
}

}  // namespace
}  // namespace kerf::args

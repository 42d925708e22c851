#include "replay/kernel/kernel_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fake_file_system.h"

namespace kerf::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KernelBuilder : public ::testing::Test {
 protected:
  std::string Source(const std::string& path, const std::string& body) {
    EXPECT_TRUE(fs_.CreateDirs(ParentPath(path)).ok());
    EXPECT_TRUE(
        WriteFileAtomic(fs_, path, "void kernel_entry(__gm__ int64_t *args) {" + body + "}").ok());
    return path;
  }
  ReplayKernel Built(const std::vector<SceneIncore>& chosen, const std::vector<SceneIncore>& all) {
    auto kernel = BuildKernel(fs_, chosen, all);
    EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
    return kernel.ok() ? *kernel : ReplayKernel{};
  }
  std::string Refused(const std::vector<SceneIncore>& chosen) {
    const auto kernel = BuildKernel(fs_, chosen, chosen);
    return kernel.ok() ? "accepted" : kernel.error().message;
  }
  FakeFileSystem fs_;
};

TEST_F(KernelBuilder, ASingleSourceRunsWhereItsEntrySays) {
  const SceneIncore qk{
      .func_id = 0, .name = "QK", .source = Source("k/a.cpp", "args[2];"), .core_type = "aic"};
  const ReplayKernel kernel = Built({qk}, {qk});
  EXPECT_EQ(kernel.shape, KernelShape::kAic);
  EXPECT_THAT(kernel.slots_read(), ElementsAre(2));
  EXPECT_EQ(kernel.members[0].sha256.size(), 64U);
}

// Counts how often each file is read.
class CountingFileSystem : public FakeFileSystem {
 public:
  Result<std::string> ReadFile(const std::string& path) override {
    ++reads[path];
    return FakeFileSystem::ReadFile(path);
  }
  std::map<std::string, int> reads;
};

TEST_F(KernelBuilder, ReadsASourceOnceHoweverManyCoresRunIt) {
  CountingFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("k").ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "k/m.cpp", "void kernel_entry(__gm__ int64_t *args) {}").ok());
  const SceneIncore cube{.func_id = 0, .name = "C", .source = "k/m.cpp", .core_type = "aic"};
  SceneIncore vector = cube;
  vector.func_id = 1;
  vector.core_type = "aiv";
  const auto kernel = BuildKernel(fs, {cube, vector}, {cube, vector});
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_EQ(kernel->members.size(), 2U);
  EXPECT_EQ(fs.reads["k/m.cpp"], 1);
}

TEST_F(KernelBuilder, ReadingAContextDoesNotMakeAMix) {
  const SceneIncore v{
      .name = "V", .source = Source("k/v.cpp", "get_block_idx(args);"), .core_type = "aiv"};
  const ReplayKernel kernel = Built({v}, {v});
  EXPECT_EQ(kernel.shape, KernelShape::kAiv);
  EXPECT_TRUE(kernel.needs_context());
}

TEST_F(KernelBuilder, OneSourceListedForBothCoresIsAMix) {
  const std::string path = Source("k/mix.cpp", "args[0];");
  const SceneIncore aic{.func_id = 0, .name = "PA_AIC", .source = path, .core_type = "aic"};
  const SceneIncore aiv{.func_id = 1, .name = "PA_AIV", .source = path, .core_type = "aiv"};
  const SceneIncore other{
      .func_id = 2, .name = "O", .source = Source("k/o.cpp", ""), .core_type = "aiv"};
  const ReplayKernel kernel = Built({aiv}, {aic, aiv, other});
  EXPECT_EQ(kernel.shape, KernelShape::kMix);
  ASSERT_EQ(kernel.members.size(), 2U);
  EXPECT_EQ(kernel.members[0].core, CoreType::kAic);
  EXPECT_THAT(kernel.func_ids(), ElementsAre(0, 1));
}

TEST_F(KernelBuilder, ASetOfFunctionsRunsTogether) {
  const SceneIncore c{
      .func_id = 0, .name = "C", .source = Source("k/c.cpp", "args[0];"), .core_type = "aic"};
  const SceneIncore v{
      .func_id = 1, .name = "V0", .source = Source("k/v.cpp", "args[3];"), .core_type = "aiv"};
  SceneIncore w = v;
  w.func_id = 2;
  const ReplayKernel same = Built({c, v, w}, {c, v, w});
  EXPECT_EQ(same.members.size(), 2U) << "the same source on both lanes is included once";
  EXPECT_THAT(same.slots_read(), ElementsAre(0, 3));
  const SceneIncore x{
      .func_id = 3, .name = "V1", .source = Source("k/x.cpp", ""), .core_type = "aiv"};
  const SceneIncore y{
      .func_id = 4, .name = "V2", .source = Source("k/y.cpp", ""), .core_type = "aiv"};
  EXPECT_THAT(Refused({v, x, y}), HasSubstr("this selection has 0 aic and 3 aiv sources"));
}

TEST_F(KernelBuilder, WithoutAnEntryFolderAndGuardsTell) {
  const auto shape = [&](const std::string& path, const std::string& body) {
    const SceneIncore one{.name = "K", .source = Source(path, body)};
    return Built({one}, {one}).shape;
  };
  EXPECT_EQ(shape("a/kernels/aic/k.cpp", ""), KernelShape::kAic);
  EXPECT_EQ(shape("a/kernels/aiv/k.cpp", ""), KernelShape::kAiv);
  EXPECT_EQ(shape("a/kernels/mix/k.cpp", ""), KernelShape::kMix);
  EXPECT_EQ(shape("b/k.cpp", "\n#ifdef __DAV_VEC__\n#endif\n"), KernelShape::kAiv);
  EXPECT_THAT(Refused({{.name = "K", .source = Source("c/k.cpp", "")}}),
              HasSubstr("Cannot classify kernel core type: ''"));
  EXPECT_THAT(Refused({{.name = "K", .source = Source("c/k.cpp", ""), .core_type = "gpu"}}),
              HasSubstr("Cannot classify kernel core type: 'gpu'"));
}

TEST_F(KernelBuilder, RefusesWhatIsNoKernel) {
  ASSERT_TRUE(fs_.CreateDirs("k").ok());
  ASSERT_TRUE(WriteFileAtomic(fs_, "k/n.cpp", "int main() {}").ok());
  EXPECT_THAT(Refused({{.name = "N", .source = "k/n.cpp", .core_type = "aic"}}),
              HasSubstr("Kernel does not look like kernel_entry(args): k/n.cpp"));
  EXPECT_THAT(Refused({{.name = "N", .source = "k/none.cpp", .core_type = "aic"}}),
              HasSubstr("kernel N"));
  EXPECT_THAT(Refused({{.name = "N"}}), HasSubstr("has no source"));
}

}  // namespace
}  // namespace kerf::kernel

#include "artifact/core_model.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <iterator>

namespace kerf {
namespace {

std::string ChipText(const std::string& name) {
  std::ifstream file(std::string(KERF_CHIPS_DIR) + "/" + name + ".yaml");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void ExpectOrigins(const CoreModel& model, const YAML::Node& node, const std::string& path) {
  if (node.IsMap()) {
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      ExpectOrigins(model, entry.second, path.empty() ? key : path + "." + key);
    }
    return;
  }
  EXPECT_NE(model.OriginOf(path), "") << model.chip << ": " << path << " has no origin";
}

TEST(CoreModel, EveryNumberHasAnOrigin) {
  for (const char* chip : {"ascend910b1", "ascend950"}) {
    const auto model = ParseCoreModel(ChipText(chip));
    ASSERT_TRUE(model.ok()) << model.error().message;
    YAML::Node node = YAML::Load(ChipText(chip))["in_core"];
    node.remove("origin");
    ExpectOrigins(*model, node, "");
  }
}

TEST(CoreModel, RatesAreInBytesPerCycle) {
  const auto model = ParseCoreModel(ChipText("ascend910b1"));
  ASSERT_TRUE(model.ok());
  EXPECT_NEAR(model->transfer.at("gm_to_ub").bytes_per_cycle, 58.6, 0.05);
  EXPECT_NEAR(model->transfer.at("l1_to_l0a").bytes_per_cycle, 256, 0.5);
  EXPECT_EQ(model->CubePeak("f16", 2), 8192);
  EXPECT_EQ(model->CubePeak("f32", 4), 2048);
}

TEST(CoreModel, AChipWithoutCoresIsNotFound) {
  const auto model = ParseCoreModel(ChipText("h200"));
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, ErrorCode::kNotFound);
}

TEST(CoreModel, WhatIsMissingIsNamed) {
  std::string text = ChipText("ascend910b1");
  text.replace(text.find("queue_depth: 32, "), 17, "");
  const auto model = ParseCoreModel(text);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message.find("queue_depth"), std::string::npos);
}

}  // namespace
}  // namespace kerf

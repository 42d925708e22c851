// Chips for tests.
#pragma once

#include <fstream>
#include <iterator>

#include "artifact/core_model.h"

namespace kerf::sim {

inline CoreModel ChipModel(const std::string& name) {
  std::ifstream file(std::string(KERF_CHIPS_DIR) + "/" + name + ".yaml");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto model = ParseCoreModel(text);
  KERF_CHECK(model.ok(), "the chips of the repository read");
  return std::move(model).value();
}

// ascend910b1 without what kerf adds to the public constants: no latencies, issue in no time.
inline CoreModel FlatModel() {
  CoreModel model = ChipModel("ascend910b1");
  for (auto& [name, path] : model.transfer) path.latency = 0;
  model.issue = 0;
  model.tile_issue = 0;
  return model;
}

}  // namespace kerf::sim

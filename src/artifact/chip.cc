#include "artifact/chip.h"

#include <yaml-cpp/yaml.h>

namespace kerf {
namespace {

template <typename T>
void Read(const YAML::Node& root, const char* key, T& out) {
  if (root[key]) out = root[key].as<T>();
}

}  // namespace

Result<Chip> ParseChip(const std::string& text) {
  // The library throws; nothing of that leaves this function.
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) return Corrupt("a chip's description must be a mapping");
    Chip chip;
    Read(root, "name", chip.name);
    Read(root, "vendor", chip.vendor);
    Read(root, "arch", chip.arch);
    Read(root, "memory_bytes", chip.memory_bytes);
    Read(root, "memory_bandwidth", chip.memory_bandwidth);
    Read(root, "l2_bytes", chip.l2_bytes);
    Read(root, "flops", chip.flops);
    Read(root, "origin", chip.origin);
    if (chip.name.empty()) return Corrupt("a chip's description has no name");
    if (chip.memory_bandwidth < 0) return Corrupt(chip.name + ": memory_bandwidth is negative");
    return chip;
  } catch (const YAML::Exception& error) {
    return Corrupt(std::string("a chip's description: ") + error.what());
  }
}

}  // namespace kerf

#include "sim/machine/global_memory.h"

#include <utility>

namespace kerf::sim {

void GlobalMemory::AddRegion(std::string name, void* data, uint64_t size) {
  regions_.push_back({std::move(name), reinterpret_cast<uint64_t>(data), size, next_label_});
  next_label_ += (size + 0xffff) / 0x10000 * 0x10000 + 0x10000;
}

const GlobalMemory::Region* GlobalMemory::Find(uint64_t address) const {
  for (const Region& region : regions_) {
    if (address >= region.begin && address - region.begin < region.size) return &region;
  }
  return nullptr;
}

const std::string* GlobalMemory::Holds(const void* data, uint64_t size) const {
  const auto address = reinterpret_cast<uint64_t>(data);
  const Region* region = Find(address);
  if (region == nullptr || size > region->size - (address - region->begin)) return nullptr;
  return &region->name;
}

std::string GlobalMemory::Near(const void* data) const {
  const auto address = reinterpret_cast<uint64_t>(data);
  const Region* best = nullptr;
  uint64_t best_distance = uint64_t{1} << 40;
  for (const Region& region : regions_) {
    const uint64_t end = region.begin + region.size;
    const uint64_t distance = address < region.begin ? region.begin - address
                              : address >= end       ? address - end
                                                     : 0;
    if (distance >= best_distance) continue;
    best = &region;
    best_distance = distance;
  }
  if (address == 0) return "the address is null";
  if (best == nullptr) return "no tensor is near";
  if (address < best->begin) return std::to_string(best_distance) + " bytes before " + best->name;
  if (best_distance == 0 && address < best->begin + best->size) {
    return "from byte " + std::to_string(address - best->begin) + " of the " +
           std::to_string(best->size) + " of " + best->name;
  }
  return std::to_string(best_distance) + " bytes behind the end of " + best->name;
}

uint64_t GlobalMemory::Label(const void* data) const {
  const auto address = reinterpret_cast<uint64_t>(data);
  const Region* region = Find(address);
  return region == nullptr ? 0 : region->label + (address - region->begin);
}

}  // namespace kerf::sim

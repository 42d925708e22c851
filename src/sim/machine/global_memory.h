// Global memory: the buffers a launch has, and addresses that mean the same in every run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kerf::sim {

class GlobalMemory {
 public:
  // `data` stays the caller's. Regions do not overlap.
  void AddRegion(std::string name, void* data, uint64_t size);

  // The name of the region that holds all of these bytes, nullptr when none does.
  [[nodiscard]] const std::string* Holds(const void* data, uint64_t size) const;
  // What is next to an address outside, for messages: "64 bytes behind slot 2 (y)".
  [[nodiscard]] std::string Near(const void* data) const;
  // The same number for the same byte of the same launch in every run; 0 when outside.
  [[nodiscard]] uint64_t Label(const void* data) const;

 private:
  struct Region {
    std::string name;
    uint64_t begin = 0;
    uint64_t size = 0;
    uint64_t label = 0;
  };
  [[nodiscard]] const Region* Find(uint64_t address) const;

  std::vector<Region> regions_;
  uint64_t next_label_ = 0x10000;
};

}  // namespace kerf::sim

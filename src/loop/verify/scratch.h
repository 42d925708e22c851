// A folder for one run, gone with its owner.
#pragma once

#include <string>

#include "base/result.h"

namespace kerf::verify {

class Scratch {
 public:
  // Below `parent`, which is made when it is not there.
  static Result<Scratch> Make(const std::string& parent);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&& other) noexcept;
  ~Scratch();
  [[nodiscard]] const std::string& path() const { return path_; }
  // Writes a file in it that everybody may read.
  Status Write(const std::string& name, const std::string& bytes) const;

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace kerf::verify

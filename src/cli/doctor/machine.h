// What `kerf doctor` asks the machine it runs on; faked in tests. Thread-safe: checks run at the
// same time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"

namespace kerf::cli {

class Machine {
 public:
  virtual ~Machine() = default;
  // An environment variable; nullopt when unset or empty.
  virtual std::optional<std::string> Variable(const std::string& name) = 0;
  // Every executable of that name in PATH, in order.
  virtual std::vector<std::string> FindPrograms(const std::string& name) = 0;
  virtual Result<ProcessOutcome> Run(const Command& command) = 0;
  virtual bool Exists(const std::string& path) = 0;
  virtual bool IsExecutable(const std::string& path) = 0;
  virtual bool MayReadAndWrite(const std::string& path) = 0;
  // Names in a folder; none when it is not there.
  virtual std::vector<std::string> List(const std::string& dir) = 0;
  // The beginning of a small file; empty when it cannot be read.
  virtual std::string Read(const std::string& path) = 0;
  // Whether a shared library can be loaded into a process.
  virtual bool CanLoad(const std::string& library) = 0;
  // The ABI version of Landlock; 0 when the kernel has none.
  virtual int LandlockAbi() = 0;
  // f_type of statfs(); 0 when there is nothing at `path`.
  virtual uint64_t FileSystemMagic(const std::string& path) = 0;
  // Creates and removes a file in it.
  virtual Status TryToWrite(const std::string& dir) = 0;
  virtual std::optional<uint64_t> FreeBytes(const std::string& dir) = 0;
  // The folder that holds the running binary.
  virtual std::string BinaryDir() = 0;
};

std::unique_ptr<Machine> MakePosixMachine();

}  // namespace kerf::cli

// A verb as a table: the parser, the help, the man page and the shell completion are all made from
// it.
//
// One file per verb, named after it (trace_append.cc), with one function that returns its table
// (registry.h lists them).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kerf {
class Clock;
class FileSystem;
}  // namespace kerf

namespace kerf::cli {

class Output;

struct Flag {
  std::string name;        // "--log-dir"
  std::string value_name;  // "DIR"; empty for a switch
  std::string help;        // one sentence without a full stop
  std::string default_value;
  std::vector<std::string> choices;  // the only values allowed, when not empty
  bool repeated = false;
  bool required = false;
  bool number = false;  // a whole number ≥ 0
};

struct Positional {
  std::string name;  // "DIR"
  std::string help;
  bool required = true;
  bool repeated = false;             // the last one only
  std::vector<std::string> choices;  // the only values allowed, when not empty
};

struct Example {
  std::string command;
  std::string explanation;
};

// What the user wrote, checked against the table.
class Args {
 public:
  // A switch that was given, or a value flag that was given or has a default.
  [[nodiscard]] bool Has(const std::string& flag) const;
  // The value given or the default; empty when there is neither.
  [[nodiscard]] std::string Get(const std::string& flag) const;
  // nullopt when not given and without default. The parser has checked that it is a number.
  [[nodiscard]] std::optional<int64_t> GetNumber(const std::string& flag) const;
  [[nodiscard]] std::vector<std::string> All(const std::string& flag) const;
  // Positionals in order, by index; empty when absent.
  [[nodiscard]] std::string Positional(size_t index) const;
  [[nodiscard]] const std::vector<std::string>& Positionals() const { return positionals_; }

  void Set(const std::string& flag, std::vector<std::string> values);
  void AddPositional(std::string value) { positionals_.push_back(std::move(value)); }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> flags_;
  std::vector<std::string> positionals_;
};

// The ports a verb may use; main builds them.
struct Context {
  FileSystem& fs;
  Clock& clock;
  Output& out;
  int stdin_fd = 0;
};

// Exit codes of the product (shared by every verb).
inline constexpr int kExitDone = 0;
inline constexpr int kExitNegative = 1;  // the verdict is negative
inline constexpr int kExitUsage = 2;
inline constexpr int kExitEnvironment = 3;
inline constexpr int kExitCorrupt = 4;
inline constexpr int kExitBug = 70;
inline constexpr int kExitInterrupted = 130;

struct Verb {
  std::string name;     // "trace append": the words after `kerf`
  std::string summary;  // one line for the list of verbs
  std::string details;  // a few lines for its own help
  std::vector<Positional> positionals;
  std::vector<Flag> flags;
  std::vector<Example> examples;
  // Returns the exit code, or the Error to print and map to one.
  std::function<Result<int>(const Args&, Context&)> run;
};

// The switch every reporting verb has.
Flag JsonFlag();

}  // namespace kerf::cli

// What was odd about a data set; none of it stops the reading.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kerf::dataset {

struct Problem {
  std::string file;
  uint64_t offset = 0;
  uint64_t line = 0;  // 0: not known
  std::string name;   // of the case; empty when it has none
  std::string what;
};

// "data_3.jsonl:12 (byte 3411): rowscale.py: what"
std::string ProblemText(const Problem& problem);

// Counts all, keeps the first thousand: a file of broken lines must not fill the memory.
class Problems {
 public:
  void Add(Problem problem);
  void Append(const Problems& others);
  // In the order of the file, whoever found them first.
  void SortByOffset();
  [[nodiscard]] const std::vector<Problem>& kept() const { return kept_; }
  [[nodiscard]] uint64_t count() const { return count_; }

 private:
  std::vector<Problem> kept_;
  uint64_t count_ = 0;
};

}  // namespace kerf::dataset

// Replacements in a text, collected in any order and applied at once.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kerf::verify {

class EditList {
 public:
  void Replace(size_t begin, size_t end, std::string text) {
    edits_.push_back({begin, end, std::move(text)});
  }
  void Insert(size_t at, std::string text) { Replace(at, at, std::move(text)); }

  // Insertions at one place stand in the order they came; of two replacements that overlap the
  // first wins.
  [[nodiscard]] std::string Apply(std::string_view source) const {
    std::vector<Edit> sorted = edits_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string out;
    out.reserve(source.size() + source.size() / 2);
    size_t done = 0;
    for (const Edit& e : sorted) {
      if (e.begin < done) continue;
      out.append(source.substr(done, e.begin - done)).append(e.text);
      done = e.end;
    }
    return out.append(source.substr(done));
  }

 private:
  struct Edit {
    size_t begin;
    size_t end;
    std::string text;
  };
  std::vector<Edit> edits_;
};

}  // namespace kerf::verify

// First in, first out, in one vector: flags are thousands, and hold one entry or none.
#pragma once

#include <cstddef>
#include <vector>

namespace kerf::sim {

template <typename T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const { return head_ == items_.size(); }
  [[nodiscard]] size_t size() const { return items_.size() - head_; }
  [[nodiscard]] const T& front() const { return items_[head_]; }
  auto begin() const { return items_.begin() + static_cast<std::ptrdiff_t>(head_); }
  auto end() const { return items_.end(); }
  void Push(const T& item) { items_.push_back(item); }
  void Pop() {
    ++head_;
    if (head_ == items_.size()) {
      items_.clear();
      head_ = 0;
    } else if (head_ >= 64 && head_ * 2 > items_.size()) {
      items_.erase(items_.begin(), begin());
      head_ = 0;
    }
  }

 private:
  std::vector<T> items_;
  size_t head_ = 0;
};

}  // namespace kerf::sim

// Bytes that are the object's own, or that stand in a buffer of somebody who keeps it long enough:
// a long text is then never copied on its way from the input to the disk.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace kerf {

class Text {
 public:
  Text() = default;
  Text(std::string bytes) : own_(std::move(bytes)) {}  // NOLINT(google-explicit-constructor)
  Text(const char* bytes) : own_(bytes) {}             // NOLINT(google-explicit-constructor)
  // `ascii`: the bytes are known to be ASCII, so nobody need look.
  static Text Borrowed(std::string_view bytes, bool ascii) {
    Text text;
    text.borrowed_ = bytes;
    text.is_borrowed_ = true;
    text.known_ascii_ = ascii;
    return text;
  }

  [[nodiscard]] std::string_view view() const {
    return is_borrowed_ ? borrowed_ : std::string_view(own_);
  }
  [[nodiscard]] bool empty() const { return view().empty(); }
  [[nodiscard]] size_t size() const { return view().size(); }
  [[nodiscard]] bool known_ascii() const { return known_ascii_; }

  // To be changed: a copy is made when the bytes were somebody else's.
  std::string& Own() {
    if (is_borrowed_) own_ = borrowed_;
    is_borrowed_ = false;
    known_ascii_ = false;
    return own_;
  }

  friend bool operator==(const Text& a, std::string_view b) { return a.view() == b; }

 private:
  std::string own_;
  std::string_view borrowed_;
  bool is_borrowed_ = false;
  bool known_ascii_ = false;
};

}  // namespace kerf

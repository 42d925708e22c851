// Numbers as text, fast, and a file that is written in large pieces: a run's traces are hundreds of
// megabytes.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_system.h"

namespace kerf::sim {

inline void AppendNumber(std::string& out, uint64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

inline void AppendHex(std::string& out, uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  out.append(digits, end);
}

// Cycles as microseconds. Six decimals are a thousandth of a nanosecond; in cycle-exact mode a
// cycle is written as a nanosecond.
class TimeText {
 public:
  TimeText(double clock_mhz, bool cycle_exact)
      : per_cycle_(cycle_exact ? 1000.0 : 1e6 / clock_mhz) {}

  // Millionths of a microsecond.
  [[nodiscard]] uint64_t Fixed(uint64_t cycles) const {
    constexpr double kHalf = 0.5;  // rounds what is never negative, without a call
    return static_cast<uint64_t>(static_cast<double>(cycles) * per_cycle_ + kHalf);
  }
  static void Append(std::string& out, uint64_t fixed);

 private:
  double per_cycle_;
};

// A JSON string's content: escaped, valid UTF-8, without the quotes.
std::string JsonText(std::string_view text);

// Collects text and writes it in pieces of a megabyte.
class TextFile {
 public:
  static Result<TextFile> Create(FileSystem& fs, const std::string& path);

  std::string& text() { return text_; }
  // Writes what has come together, when it is enough.
  Status Spill() { return text_.size() < kPiece ? Status() : Write(); }
  // Writes the rest, closes and sets the mode; the object is done.
  Status Finish();
  // Bytes so far.
  [[nodiscard]] uint64_t size() const { return written_ + text_.size(); }

 private:
  static constexpr size_t kPiece = size_t{1} << 20;
  TextFile(FileSystem& fs, std::string path, std::unique_ptr<File> file);
  Status Write();

  FileSystem* fs_;
  std::string path_;
  std::unique_ptr<File> file_;
  std::string text_;
  uint64_t written_ = 0;
};

}  // namespace kerf::sim

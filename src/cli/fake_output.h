// An Output that keeps what a verb printed, for tests.
#pragma once

#include <string>
#include <string_view>

#include "cli/render/output.h"

namespace kerf::cli {

class FakeOutput : public Output {
 public:
  void Data(std::string_view bytes) override { data += bytes; }
  void Note(std::string_view line) override { notes += std::string(line) + "\n"; }
  void Progress(std::string_view line) override { progress = line; }
  [[nodiscard]] bool Live() const override { return live; }
  void Fail(const Error& error) override { failures += "kerf: " + error.message + "\n"; }
  Status Flush() override {
    if (flush_fails) return IoError("cannot write to standard output: it is a test");
    return {};
  }
  // "<good>text</>" when colours are on, so that tests can see the style.
  [[nodiscard]] std::string Styled(std::string_view text, Style style) const override {
    constexpr const char* kNames[] = {"plain", "bold", "dim", "good", "bad", "warn", "match"};
    if (!colour || style == Style::kPlain) return std::string(text);
    return "<" + std::string(kNames[static_cast<int>(style)]) + ">" + std::string(text) + "</>";
  }
  [[nodiscard]] int Width() const override { return width; }

  std::string data;
  std::string notes;
  std::string failures;
  std::string progress;
  bool flush_fails = false;
  bool colour = false;
  bool live = false;
  int width = 0;
};

}  // namespace kerf::cli

// The only code that prints. Data goes to stdout, everything said about the work to stderr.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kerf::cli {

enum class Style { kPlain, kBold, kDim, kGood, kBad, kWarn, kMatch };

class Output {
 public:
  virtual ~Output() = default;
  // Bytes for stdout, as they are. Buffered; Flush() before waiting for anything.
  virtual void Data(std::string_view bytes) = 0;
  // One line on stderr: what is going on.
  virtual void Note(std::string_view line) = 0;
  // Lines on stderr that replace the previous ones on a terminal; nothing when stderr is not one.
  // Empty clears them.
  virtual void Progress(std::string_view lines) = 0;
  // Whether anybody sees the progress; else events are worth a Note().
  [[nodiscard]] virtual bool Live() const = 0;
  // "kerf: <message>" on stderr, in one line.
  virtual void Fail(const Error& error) = 0;
  // Flushes stdout; an error when the reader has gone or the disk is full.
  virtual Status Flush() = 0;
  // `text` in a style when stdout is a terminal and NO_COLOR is unset, else unchanged.
  [[nodiscard]] virtual std::string Styled(std::string_view text, Style style) const = 0;
  // Columns of the terminal, 0 when stdout is not one.
  [[nodiscard]] virtual int Width() const = 0;
};

// The real one, over two descriptors that stay open and are not owned. Looks at NO_COLOR, TERM and
// COLUMNS.
std::unique_ptr<Output> MakeOutput(int stdout_fd, int stderr_fd);

}  // namespace kerf::cli

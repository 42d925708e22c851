// What the emulator found, as one JSON line each: {"kind", "severity", "fatal", "kernel", "block",
// "thread", "line", "detail"}. Written without allocation and without stdio, because half of the
// callers are signal handlers.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kerf_simt/types.h"

namespace kerf_simt {

// A text of limited length; what does not fit is dropped.
class Text {
 public:
  Text& operator<<(const char* s);
  Text& operator<<(long long v);
  Text& operator<<(int v) { return *this << static_cast<long long>(v); }
  Text& operator<<(unsigned v) { return *this << static_cast<long long>(v); }
  Text& operator<<(unsigned long v) { return *this << static_cast<long long>(v); }
  Text& operator<<(unsigned long long v) { return *this << static_cast<long long>(v); }
  Text& operator<<(const uint3& v);  // (x, y, z)
  Text& Hex(uint64_t v);
  Text& Quoted(const char* s);  // as a JSON string
  [[nodiscard]] const char* text() const { return text_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  char text_[1024] = {};
  size_t size_ = 0;
};

enum class Severity { kWarning, kError, kFatal };

struct Finding {
  const char* kind;
  Severity severity;
  const char* kernel;
  bool in_kernel;
  uint3 block;
  uint3 thread;
  int line;
  const char* detail;
  uint64_t code_offset;  // of the faulting instruction in the candidate's library; 0: unknown
};

// Writes the line, once for each kind, kernel and line of source.
KERF_SIMT_HIDDEN void Report(const Finding& finding);
KERF_SIMT_HIDDEN bool Strict();

// Appends which registered buffer the address is in or next to.
KERF_SIMT_HIDDEN void DescribeAddress(uint64_t address, Text& out);
KERF_SIMT_HIDDEN void AddBuffer(const char* name, const void* p, uint64_t bytes);
KERF_SIMT_HIDDEN void RemoveBuffer(const void* p);

// Faults in kernels are reported with the thread's coordinates and end the process with this code.
constexpr int kFaultExitCode = 87;
KERF_SIMT_HIDDEN void InstallFaultHandlers();
KERF_SIMT_HIDDEN void UseAlternateStack();  // for each OS thread that runs fibers

}  // namespace kerf_simt

#include "runtime/report.h"

#include <string.h>
#include <unistd.h>

#include "kerf_simt/runtime.h"

namespace kerf_simt {
namespace {

constexpr int kMaxFindings = 256;  // of one run; a broken kernel breaks the same way in every block
constexpr int kMaxBuffers = 1024;

struct Buffer {
  char name[56];
  uint64_t begin;
  uint64_t end;
};

struct State {
  volatile int lock;
  int fd = 2;
  int strict;
  uint64_t count;
  uint64_t seen[kMaxFindings];
  int buffers_used;
  Buffer buffers[kMaxBuffers];
};
State state;

// A mutex is not for signal handlers. The handler ends the process, so a lock held by its own
// thread is passed over after a while.
class Lock {
 public:
  Lock() {
    for (int i = 0; __atomic_exchange_n(&state.lock, 1, __ATOMIC_ACQUIRE) != 0 && i < 10'000'000;
         ++i) {
    }
  }
  ~Lock() { __atomic_store_n(&state.lock, 0, __ATOMIC_RELEASE); }
};

uint64_t Hash(const char* s, uint64_t h) {
  for (; *s != 0; ++s) h = (h ^ static_cast<unsigned char>(*s)) * 0x100000001b3;
  return h;
}

bool FirstOfItsKind(const Finding& f) {
  uint64_t key =
      Hash(f.kernel, Hash(f.kind, 0xcbf29ce484222325)) * 31 + static_cast<unsigned>(f.line);
  for (uint64_t i = 0; i < state.count && i < kMaxFindings; ++i) {
    if (state.seen[i] == key) return false;
  }
  if (state.count >= kMaxFindings) return false;
  state.seen[state.count++] = key;
  return true;
}

void Coordinates(Text& out, const char* name, const uint3& v) {
  out << ",\"" << name << "\":[" << v.x << "," << v.y << "," << v.z << "]";
}

void WriteAll(int fd, const char* p, size_t n) {
  while (n > 0) {
    ssize_t done = write(fd, p, n);
    if (done <= 0) return;
    p += done;
    n -= static_cast<size_t>(done);
  }
}

}  // namespace

Text& Text::operator<<(const char* s) {
  while (*s != 0 && size_ + 1 < sizeof(text_)) text_[size_++] = *s++;
  text_[size_] = 0;
  return *this;
}

Text& Text::operator<<(long long v) {
  char digits[24];
  int n = sizeof(digits);
  digits[--n] = 0;
  bool negative = v < 0;
  auto u = negative ? 0 - static_cast<unsigned long long>(v) : static_cast<unsigned long long>(v);
  do {
    digits[--n] = static_cast<char>('0' + u % 10);
    u /= 10;
  } while (u != 0);
  if (negative) digits[--n] = '-';
  return *this << (digits + n);
}

Text& Text::operator<<(const uint3& v) {
  return *this << "(" << v.x << "," << v.y << "," << v.z << ")";
}

Text& Text::Hex(uint64_t v) {
  char digits[20];
  int n = sizeof(digits);
  digits[--n] = 0;
  do {
    digits[--n] = "0123456789abcdef"[v & 15];
    v >>= 4;
  } while (v != 0);
  return *this << "0x" << (digits + n);
}

Text& Text::Quoted(const char* s) {
  *this << "\"";
  for (; *s != 0; ++s) {
    char c[3] = {*s, 0, 0};
    if (*s == '"' || *s == '\\') {
      c[0] = '\\';
      c[1] = *s;
    } else if (static_cast<unsigned char>(*s) < 0x20) {
      c[0] = ' ';
    }
    // Room for the fields behind, so that a long text cannot break the line.
    if (size_ + 16 < sizeof(text_)) *this << c;
  }
  return *this << "\"";
}

void Report(const Finding& f) {
  Lock lock;
  if (!FirstOfItsKind(f)) return;
  static const char* const kNames[] = {"warning", "error", "error"};
  Text out;
  (out << "{\"kind\":").Quoted(f.kind)
      << ",\"severity\":\"" << kNames[static_cast<int>(f.severity)]
      << "\",\"fatal\":" << (f.severity == Severity::kFatal ? "true" : "false");
  (out << ",\"kernel\":").Quoted(f.kernel);
  if (f.in_kernel) {
    Coordinates(out, "block", f.block);
    Coordinates(out, "thread", f.thread);
  }
  out << ",\"line\":" << f.line;
  if (f.code_offset != 0) (out << ",\"code\":\"").Hex(f.code_offset) << "\"";
  (out << ",\"detail\":").Quoted(f.detail);
  out << "}\n";
  WriteAll(state.fd, out.text(), out.size());
}

bool Strict() { return state.strict != 0; }

void AddBuffer(const char* name, const void* p, uint64_t bytes) {
  Lock lock;
  auto begin = reinterpret_cast<uint64_t>(p);
  int at = 0;
  while (at < state.buffers_used && state.buffers[at].begin != begin) ++at;
  if (at == kMaxBuffers) return;
  if (at == state.buffers_used) ++state.buffers_used;
  Buffer& b = state.buffers[at];
  strncpy(b.name, name, sizeof(b.name) - 1);
  b.begin = begin;
  b.end = begin + bytes;
}

void RemoveBuffer(const void* p) {
  Lock lock;
  for (int i = 0; i < state.buffers_used; ++i) {
    if (state.buffers[i].begin != reinterpret_cast<uint64_t>(p)) continue;
    state.buffers[i] = state.buffers[--state.buffers_used];
    return;
  }
}

void DescribeAddress(uint64_t address, Text& out) {
  out.Hex(address);
  const Buffer* nearest = nullptr;
  uint64_t best = 0;
  for (int i = 0; i < state.buffers_used; ++i) {
    const Buffer& b = state.buffers[i];
    uint64_t distance = address < b.begin  ? b.begin - address
                        : address >= b.end ? address - b.end + 1
                                           : 0;
    if (nearest == nullptr || distance < best) {
      nearest = &b;
      best = distance;
    }
  }
  // Far from everything: a wild or null pointer, and naming a neighbour would mislead.
  if (nearest == nullptr || best > (uint64_t{1} << 32)) {
    out << (address < 4096 ? ", a null pointer with an offset" : ", near no registered buffer");
    return;
  }
  out << ", ";
  if (best == 0) {
    out << "offset " << (address - nearest->begin) << " in";
  } else if (address < nearest->begin) {
    out << best << " bytes before the start of";
  } else {
    out << (address - nearest->end) << " bytes past the end of";
  }
  (out << " ").Quoted(nearest->name) << " (" << (nearest->end - nearest->begin) << " bytes)";
}

}  // namespace kerf_simt

using kerf_simt::state;

extern "C" {

void kerf_simt_register(const char* name, const void* p, uint64_t bytes) {
  kerf_simt::InstallFaultHandlers();
  kerf_simt::AddBuffer(name, p, bytes);
}

void kerf_simt_forget_buffers() {
  kerf_simt::Lock lock;
  state.buffers_used = 0;
}

void kerf_simt_report_fd(int fd) {
  kerf_simt::InstallFaultHandlers();
  kerf_simt::Lock lock;
  state.fd = fd;
  state.count = 0;
}

void kerf_simt_strict(int on) { state.strict = on; }

uint64_t kerf_simt_findings() { return state.count; }
}

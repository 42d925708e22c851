// Where shared variables lie, and who touches them.
//
// The race check keeps, for each element, the last writer and up to two readers with the barrier
// interval ("stamp") of their access. Two accesses by different threads, one of them a write, in
// the same interval are a race, unless both threads are of one warp and the warp did an operation
// in between. Elements are known by their address and by whether they are smaller than 4 bytes, so
// that neighbours never look like a race; the price is that accesses of different sizes to one
// place are not compared.
#include <pthread.h>
#include <string.h>

#include <initializer_list>

#include "runtime/worker.h"

namespace kerf_simt {
namespace {

pthread_mutex_t place_mutex = PTHREAD_MUTEX_INITIALIZER;
constexpr uint16_t kNobody = 0xffff;

}  // namespace

void Worker::PlaceShared(Slot& slot, uint32_t bytes, uint32_t align, const char* name, int line) {
  const uint32_t limit = launch_->info->hip ? 64 * 1024 : 48 * 1024;
  pthread_mutex_lock(&place_mutex);
  uint32_t offset = (launch_->static_used + align - 1) & ~(align - 1);
  bool placed = slot.launch == launch_->number;
  bool fits = placed || uint64_t{offset} + bytes <= limit;
  if (!placed && fits) {
    slot.offset = offset;
    __atomic_store_n(&launch_->static_used, offset + bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&slot.launch, launch_->number, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < bytes; ++i) {
      current.static_shared[offset + i] = static_cast<unsigned char>(kPoison >> (i % 4 * 8));
    }
  }
  pthread_mutex_unlock(&place_mutex);
  if (fits) return;
  Fail("shared_memory_limit", running_, line,
       Text() << "with \"" << name << "\" the kernel's static shared memory is "
              << (uint64_t{offset} + bytes) << " bytes; the limit is " << limit,
       701);
}

bool Worker::Unordered(int other, uint32_t epoch) const {
  if (other == running_ || other == kNobody) return false;
  int warp = running_ / warp_size_;
  return other / warp_size_ != warp || epoch == warps_[warp].epoch;
}

void Worker::RecordAccess(const void* p, unsigned bytes, Access access, const char* name,
                          int line) {
  SettleWrite();
  uint64_t offset = static_cast<uint64_t>(static_cast<const unsigned char*>(p) - shared_);
  if (offset >= kSharedArea) return;
  Cell& c = bytes >= 4 ? words_[offset / 4] : bytes_[offset];
  const bool written = c.write_stamp == stamp_;
  const bool read = c.read_stamp == stamp_;
  const auto me = static_cast<uint16_t>(running_);
  const uint32_t epoch = warps_[running_ / warp_size_].epoch;
  if (access != Access::kWrite) {
    if (written && Unordered(c.writer, c.write_epoch))
      ReportRace(c, true, c.writer, "reads", name, line);
    if (!read) c.reader = c.other_reader = kNobody;
    if (c.reader == kNobody || c.reader == me) {
      c.reader = me;
    } else {
      c.other_reader = me;
    }
    c.read_stamp = stamp_;
    c.read_epoch = epoch;
    c.read_line = static_cast<uint16_t>(line);
  }
  if (access == Access::kRead) return;
  if (read) {
    for (uint16_t reader : {c.reader, c.other_reader}) {
      if (Unordered(reader, c.read_epoch)) ReportRace(c, false, reader, "writes", name, line);
    }
  }
  if (written && access == Access::kWrite && Unordered(c.writer, c.write_epoch)) {
    write_.at = static_cast<const unsigned char*>(p);
    write_.bytes = bytes < sizeof(write_.old) ? bytes : sizeof(write_.old);
    memcpy(write_.old, p, write_.bytes);
    write_.cell = c;
    write_.name = name;
    write_.thread = running_;
    write_.line = line;
  }
  c.write_stamp = stamp_;
  c.write_epoch = epoch;
  c.writer = me;
  c.write_line = static_cast<uint16_t>(line);
}

// Threads that write the same value do no harm (a flag set by whoever finds something).
void Worker::SettleWrite() {
  if (write_.at == nullptr) return;
  const bool changed = memcmp(write_.at, write_.old, write_.bytes) != 0;
  write_.at = nullptr;
  if (!changed) return;
  Text detail;
  (detail << "thread ") << threads_[write_.thread].index << " writes an element of ";
  detail.Quoted(write_.name) << " that thread ";
  NameThread(detail, write_.cell.writer);
  detail << " wrote with another value in line " << write_.cell.write_line
         << ", with no barrier in between";
  Warn("race", Severity::kError, write_.thread, write_.line, detail);
}

void Worker::ReportRace(const Cell& cell, bool with_writer, int other, const char* how,
                        const char* name, int line) {
  Text detail;
  detail << "thread " << threads_[running_].index << " " << how << " an element of ";
  detail.Quoted(name) << " that thread ";
  NameThread(detail, other);
  detail << (with_writer ? " wrote" : " read") << " in line "
         << (with_writer ? cell.write_line : cell.read_line) << ", with no barrier in between";
  Warn("race", Severity::kError, running_, line, detail);
}

void PlaceShared(Slot& slot, uint32_t bytes, uint32_t align, const char* name, int line) {
  if (worker == nullptr) __builtin_trap();
  worker->PlaceShared(slot, bytes, align, name, line);
}

void RecordAccess(const void* p, unsigned bytes, Access access, const char* name, int line) {
  if (worker != nullptr) worker->RecordAccess(p, bytes, access, name, line);
}

void SharedIndex(const char* name, long long index, unsigned long long size, long long last,
                 int line) {
  if (worker == nullptr) return;
  Text detail;
  detail << "index " << index << " of ";
  detail.Quoted(name) << ", which has " << size << " elements";
  // A flat index into a matrix of which the compiler sees rows: works on every device, and is read
  // as meant.
  if (index >= 0 && index < last) {
    detail << " in this dimension; the access stays inside the variable";
    worker->Warn("shared_row_overflow", Severity::kWarning, worker->running(), line, detail);
    return;
  }
  worker->Fail("shared_out_of_bounds", worker->running(), line, detail, 700);
}

}  // namespace kerf_simt

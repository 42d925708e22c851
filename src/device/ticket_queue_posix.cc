// A ticket is made with O_EXCL under the next number and then locked. Between the two it looks like
// one of a dead owner, and another process may remove it; the owner sees that after locking,
// because the name no longer leads to its file, and makes another one.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>

#include "device/ticket_queue.h"

namespace kerf::device {
namespace {

constexpr int kDigits = 20;  // of the largest uint64_t

std::string TicketName(uint64_t number) {
  char digits[kDigits + 1];
  (void)std::snprintf(digits, sizeof digits, "%020llu", static_cast<unsigned long long>(number));
  return std::string(kQueueFolder) + "/" + digits;
}

int64_t ModifiedAt(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return 0;
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

}  // namespace

Result<std::set<uint64_t>> TicketQueue::Numbers() {
  std::set<uint64_t> numbers;
  const Result<std::vector<std::string>> names = dir_->List(kQueueFolder);
  if (!names.ok()) {
    if (names.error().code == ErrorCode::kNotFound) return numbers;
    return names.error();
  }
  for (const std::string& name : *names) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    // Other names are not tickets; whoever put them there must not stop us.
    if (name.size() == kDigits && error == std::errc() && end == name.data() + name.size()) {
      numbers.insert(number);
    }
  }
  return numbers;
}

Status TicketQueue::Enter(const Owner& owner) {
  KERF_CHECK(!entered(), "a pool entered the queue of devices twice");
  text_ = EncodeOwner(owner);
  KERF_RETURN_IF_ERROR(dir_->MakeDir(kQueueFolder));
  // Each round that fails means that another process got that number.
  for (int round = 0; round < 1000; ++round) {
    KERF_ASSIGN_OR_RETURN(const std::set<uint64_t> numbers, Numbers());
    const uint64_t last = numbers.empty() ? 0 : *numbers.rbegin();
    if (last == UINT64_MAX) {
      return Corrupt(dir_->path() + "/" + TicketName(last) + " is no ticket of kerf; remove it");
    }
    KERF_ASSIGN_OR_RETURN(const bool entered, TryEnter(last + 1));
    if (entered) return {};
  }
  return Unavailable("cannot get a place in the queue " + dir_->path() + "/" + kQueueFolder);
}

Result<bool> TicketQueue::TryEnter(uint64_t number) {
  const std::string name = TicketName(number);
  Result<Fd> fd = dir_->OpenFile(name, O_RDWR | O_CREAT | O_EXCL);
  if (!fd.ok()) {
    // Another process was faster. It may have left again by now, so looking for its ticket would
    // not tell.
    if (fd.error().code == ErrorCode::kUnavailable) return false;
    return std::move(fd).error();
  }
  if (::flock(fd->get(), LOCK_EX | LOCK_NB) != 0 || !dir_->IsStillAt(*fd, name)) return false;
  if (::write(fd->get(), text_.data(), text_.size()) != static_cast<ssize_t>(text_.size())) {
    // Without its text the ticket asks for every device, which is fair enough on a full disk.
    (void)::ftruncate(fd->get(), 0);
  }
  fd_ = std::move(*fd);
  number_ = number;
  return true;
}

void TicketQueue::Leave() {
  if (!entered()) return;
  const std::string name = TicketName(number_);
  if (dir_->IsStillAt(fd_, name)) (void)dir_->Remove(name).ok();
  fd_.Close();
}

void TicketQueue::Touch() { (void)::futimens(fd_.get(), nullptr); }

int64_t TicketQueue::TouchedAt() const { return ModifiedAt(fd_.get()); }

TicketQueue::Seen TicketQueue::Look(uint64_t number) {
  const std::string name = TicketName(number);
  const Result<Fd> fd = dir_->OpenFile(name, O_RDONLY);
  if (!fd.ok()) return {};
  if (::flock(fd->get(), LOCK_EX | LOCK_NB) == 0) {
    // Nobody keeps it: its owner died. Removed under its lock, so that no two of us remove it and a
    // namesake.
    if (dir_->IsStillAt(*fd, name)) (void)dir_->Remove(name).ok();
    return {};
  }
  char text[4096];
  const ssize_t n = ::pread(fd->get(), text, sizeof text, 0);
  const std::string_view read(text, n > 0 ? static_cast<size_t>(n) : 0);
  return {.live = true, .touched_ns = ModifiedAt(fd->get()), .owner = DecodeOwner(read)};
}

Result<std::set<DeviceId>> TicketQueue::Reserved(const std::vector<DeviceId>& devices) {
  if (entered()) {
    Touch();
    if (!dir_->IsStillAt(fd_, TicketName(number_))) {
      fd_.Close();
      const std::optional<Owner> owner = DecodeOwner(text_);
      KERF_RETURN_IF_ERROR(Enter(owner.value_or(Owner{})));
    }
  }
  const int64_t now_ns = entered() ? TouchedAt() : 0;
  KERF_ASSIGN_OR_RETURN(const std::set<uint64_t> numbers, Numbers());
  std::set<DeviceId> reserved;
  for (const uint64_t number : numbers) {
    if (entered() && number >= number_) break;
    const Seen seen = Look(number);
    if (!seen.live) continue;
    // Both times come from the same file system, so that no clock needs to be right.
    if (entered() && now_ns - seen.touched_ns > std::chrono::nanoseconds(patience_).count()) {
      continue;
    }
    // A ticket that does not say yet what it wants is just being written.
    const std::vector<DeviceId>& wants =
        seen.owner.has_value() && !seen.owner->wants.empty() ? seen.owner->wants : devices;
    reserved.insert(wants.begin(), wants.end());
  }
  return reserved;
}

}  // namespace kerf::device

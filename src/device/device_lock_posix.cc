#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "device/device_lock.h"

namespace kerf::device {
namespace {

std::string ReadStart(const Fd& fd) {
  char buffer[4096];
  const ssize_t n = ::pread(fd.get(), buffer, sizeof buffer, 0);
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : "";
}

}  // namespace

Status DeviceLock::OpenFile() {
  KERF_ASSIGN_OR_RETURN(fd_, dir_->OpenFile(name_, O_RDWR | O_CREAT));
  return {};
}

Result<bool> DeviceLock::TryLock(const Owner& owner) {
  // Twice: the file may have been removed under us, and then the new one counts.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!fd_.open()) KERF_RETURN_IF_ERROR(OpenFile());
    if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK || errno == EINTR) {
        // A lock on a removed file says nothing about the device.
        if (dir_->IsStillAt(fd_, name_)) return false;
        fd_.Close();
        continue;
      }
      return ErrnoError("lock", dir_->path() + "/" + name_, errno);
    }
    if (!dir_->IsStillAt(fd_, name_)) {
      fd_.Close();
      continue;
    }
    // Text in a file that nobody had locked was left by an owner that could not clear it.
    recovered_from_ = DecodeOwner(ReadStart(fd_));
    const std::string text = EncodeOwner(owner);
    if (::ftruncate(fd_.get(), 0) != 0 ||
        ::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      // The text is for messages; a full disk must not make devices unusable.
      (void)::ftruncate(fd_.get(), 0);
    }
    return true;
  }
  return false;
}

void DeviceLock::Unlock() {
  if (::ftruncate(fd_.get(), 0) != 0) {
    // The next owner then believes that we died: a wrong message, no wrong lock.
  }
  (void)::flock(fd_.get(), LOCK_UN);
  // Unlocking alone raises no event; the new time does, and it comes when the lock is free.
  (void)::futimens(fd_.get(), nullptr);
}

std::string Holder::ToString() const {
  if (!owner.has_value()) return "another process";
  if (owner_alive) return owner->ToString();
  return "what " + owner->ToString() + " left running when it ended";
}

Result<std::optional<Holder>> HolderOf(const RuntimeDir& dir, const DeviceId& id) {
  const Result<Fd> fd = dir.OpenFile(id.FileStem() + ".lock", O_RDONLY);
  if (!fd.ok()) {
    if (fd.error().code == ErrorCode::kNotFound) return std::optional<Holder>();
    return fd.error();
  }
  if (::flock(fd->get(), LOCK_SH | LOCK_NB) == 0) return std::optional<Holder>();
  Holder holder{.owner = DecodeOwner(ReadStart(*fd))};
  if (holder.owner.has_value()) holder.owner_alive = IsAlive(*holder.owner);
  return std::optional<Holder>(std::move(holder));
}

}  // namespace kerf::device

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "dataset/mapped_file.h"

namespace kerf::dataset {
namespace {

Result<std::string> ReadToEnd(int fd, const std::string& path) {
  std::string text;
  char bytes[65536];
  for (;;) {
    const ssize_t n = ::read(fd, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("read", path, errno);
    if (n == 0) return text;
    text.append(bytes, static_cast<size_t>(n));
  }
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  const int fd = path == "-" ? ::dup(0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoError("read", path, errno);
  MappedFile file;
  file.path_ = path;
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    const Error error = ErrnoError("stat", path, errno);
    ::close(fd);
    return error;
  }
  if (S_ISDIR(info.st_mode)) {
    ::close(fd);
    return InvalidInput(path + " is a folder, not a file");
  }
  file.size_ = static_cast<uint64_t>(info.st_size);
  if (S_ISREG(info.st_mode) && file.size_ > 0) {
    void* address = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (address != MAP_FAILED) {
      file.address_ = address;
      (void)::madvise(address, file.size_, MADV_SEQUENTIAL);
      ::close(fd);
      return file;
    }
  }
  Result<std::string> text = ReadToEnd(fd, path);
  ::close(fd);
  if (!text.ok()) return std::move(text).error();
  file.text_ = *std::move(text);
  file.size_ = file.text_.size();
  return file;
}

MappedFile::~MappedFile() {
  if (address_ != nullptr) ::munmap(address_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  if (address_ != nullptr) ::munmap(address_, size_);
  path_ = std::move(other.path_);
  text_ = std::move(other.text_);
  address_ = std::exchange(other.address_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

std::string_view MappedFile::bytes() const {
  if (address_ == nullptr) return text_;
  return {static_cast<const char*>(address_), size_};
}

void MappedFile::Expect(uint64_t begin, uint64_t end) const {
  if (address_ == nullptr) return;
  static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  end = std::min(end, size_);
  // A hint: kernels before 5.14 do not know it, and then pages come as they are looked at.
#if defined(MADV_POPULATE_READ)
  if (begin < end) {
    (void)::madvise(static_cast<char*>(address_) + begin, end - begin, MADV_POPULATE_READ);
  }
#endif
}

void MappedFile::Release(uint64_t begin, uint64_t end) const {
  if (address_ == nullptr) return;
  static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end) {
    (void)::madvise(static_cast<char*>(address_) + begin, end - begin, MADV_DONTNEED);
  }
}

}  // namespace kerf::dataset

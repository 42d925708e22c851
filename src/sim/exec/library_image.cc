#include "sim/exec/library_image.h"

#include <dlfcn.h>
#include <kerf_pto/abi.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace kerf::sim {
namespace {

struct Search {
  uintptr_t base;
  std::vector<std::pair<uintptr_t, size_t>> writable;
  uintptr_t relro_begin = 0;
  uintptr_t relro_end = 0;
  CodeRange code;
};

int Visit(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  if (info->dlpi_addr != search->base) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0)
      search->writable.emplace_back(begin, header.p_memsz);
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0)
      search->code = {begin, begin + header.p_memsz, info->dlpi_addr, 0};
    if (header.p_type == PT_GNU_RELRO) {
      search->relro_begin = begin;
      search->relro_end = begin + header.p_memsz;
    }
  }
  return 1;
}

}  // namespace

std::string LibraryImage::Load(const std::string& path, kerf_pto::Core** current) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::string("the kernel does not load: ") + ::dlerror();
  entry_ = reinterpret_cast<Entry>(::dlsym(handle, "kernel_entry"));
  if (entry_ == nullptr) return "the kernel defines no extern \"C\" function kernel_entry";
  using Bind = uint32_t (*)(kerf_pto::Core**);
  const auto bind = reinterpret_cast<Bind>(::dlsym(handle, "kerf_pto_bind"));
  // A kernel of scalar code alone may include no instruction at all.
  if (bind != nullptr && bind(current) != kerf_pto::kAbiVersion)
    return "the kernel was built for another kerf; clear its cache";
  FindVariables(handle);
  fresh_ = Read();
  return "";
}

// The read-only part of the writable segments (relocations) begins them.
void LibraryImage::FindVariables(void* handle) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return;
  Search search{map->l_addr, {}};
  ::dl_iterate_phdr(Visit, &search);
  code_ = search.code;
  constexpr uintptr_t kPage = 4096;
  const uintptr_t protected_end = search.relro_end / kPage * kPage;
  for (auto [begin, size] : search.writable) {
    const uintptr_t end = begin + size;
    if (begin >= search.relro_begin && begin < protected_end) begin = std::min(end, protected_end);
    auto* first = reinterpret_cast<char*>(begin);  // NOLINT: the loader gives numbers
    if (begin < end) ranges_.push_back({first, end - begin});
  }
}

std::string LibraryImage::Read() const {
  std::string bytes;
  for (const Range& range : ranges_) bytes.append(range.begin, range.size);
  return bytes;
}

void LibraryImage::Write(const std::string& bytes) {
  size_t at = 0;
  for (const Range& range : ranges_) {
    std::memcpy(range.begin, bytes.data() + at, range.size);
    at += range.size;
  }
}

size_t LibraryImage::AddCore() {
  saved_.emplace_back();
  return saved_.size() - 1;
}

void LibraryImage::SwitchTo(size_t core) {
  if (owner_ == core) return;
  if (owner_ != SIZE_MAX) saved_[owner_] = Read();
  Write(saved_[core].empty() ? fresh_ : saved_[core]);
  owner_ = core;
}

}  // namespace kerf::sim

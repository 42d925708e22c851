#include "loop/verify/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace kerf::verify {
namespace {

// Every offset comes from the file and is checked before use.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  bool Get(uint64_t at, T& out) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) return false;
    std::memcpy(&out, bytes_.data() + at, sizeof(T));
    return true;
  }
  [[nodiscard]] std::string Text(uint64_t at) const {
    if (at >= bytes_.size()) return "";
    const std::string_view rest = bytes_.substr(at);
    return std::string(rest.substr(0, rest.find('\0')));
  }

 private:
  std::string_view bytes_;
};

constexpr const char* kRunsPrograms[] = {
    "fork",   "vfork",   "_Fork",   "execve",      "execv",        "execvp", "execl", "execlp",
    "execle", "execvpe", "fexecve", "posix_spawn", "posix_spawnp", "system", "popen", "clone"};
constexpr const char* kLoadsLibraries[] = {"dlopen", "dlmopen", "dlsym", "dlvsym",
                                           "__libc_dlopen_mode"};
constexpr const char* kReachesOut[] = {"syscall",
                                       "socket",
                                       "connect",
                                       "bind",
                                       "ptrace",
                                       "process_vm_readv",
                                       "process_vm_writev",
                                       "sendmsg",
                                       "send",
                                       "sendto",
                                       "recvmsg",
                                       "pidfd_open",
                                       "kill",
                                       "killpg",
                                       "tgkill",
                                       "sigqueue"};
constexpr const char* kClocks[] = {"clock_gettime", "gettimeofday",    "time",           "clock",
                                   "nanosleep",     "clock_nanosleep", "__clock_gettime"};

template <size_t N>
const char* FirstIn(const std::vector<std::string>& names, const char* const (&list)[N]) {
  for (const char* word : list) {
    if (std::find(names.begin(), names.end(), word) != names.end()) return word;
  }
  return nullptr;
}

}  // namespace

Result<ElfSymbols> ReadElfSymbols(std::string_view bytes) {
  const Reader reader(bytes);
  Elf64_Ehdr head{};
  if (!reader.Get(0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Corrupt("the compiled candidate is no 64-bit ELF file");
  }
  ElfSymbols symbols;
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!reader.Get(head.e_shoff + uint64_t{i} * sizeof section, section)) break;
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_DYNAMIC) continue;
    Elf64_Shdr strings{};
    if (!reader.Get(head.e_shoff + uint64_t{section.sh_link} * sizeof strings, strings)) continue;
    if (section.sh_type == SHT_DYNAMIC) {
      Elf64_Dyn entry{};
      for (uint64_t at = 0; at < section.sh_size; at += sizeof entry) {
        if (!reader.Get(section.sh_offset + at, entry) || entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_NEEDED) {
          symbols.needed.push_back(reader.Text(strings.sh_offset + entry.d_un.d_val));
        }
      }
      continue;
    }
    Elf64_Sym symbol{};
    for (uint64_t at = sizeof symbol; at < section.sh_size; at += sizeof symbol) {
      if (!reader.Get(section.sh_offset + at, symbol)) break;
      std::string name = reader.Text(strings.sh_offset + symbol.st_name);
      if (name.empty()) continue;
      (symbol.st_shndx == SHN_UNDEF ? symbols.imported : symbols.exported)
          .push_back(std::move(name));
    }
  }
  return symbols;
}

bool IsAllowedLibrary(const std::string& name, bool torch) {
  for (const char* start : {"libtorch", "libc10", "libpython"}) {
    if (torch && name.rfind(start, 0) == 0) return true;
  }
  for (const char* start :
       {"libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "libgomp.so", "libomp.so",
        "libpthread.so", "libmvec.so", "ld-linux", "libdl.so", "librt.so", "libcudart.so"}) {
    if (name.rfind(start, 0) == 0) return true;
  }
  return false;
}

std::optional<ForbiddenUse> FindForbiddenUse(const ElfSymbols& symbols, bool torch) {
  if (const char* name = FirstIn(symbols.imported, kLoadsLibraries)) {
    return ForbiddenUse{"library_fallback",
                        std::string("it calls ") + name +
                            "(): a kernel is to be written, not to be found in a library"};
  }
  if (const char* name = FirstIn(symbols.imported, kRunsPrograms)) {
    return ForbiddenUse{"forbidden_call",
                        std::string("it calls ") + name + "(): a kernel starts no processes"};
  }
  if (const char* name = FirstIn(symbols.imported, kReachesOut)) {
    return ForbiddenUse{"forbidden_call",
                        std::string("it calls ") + name + "(): a kernel talks to nobody"};
  }
  if (const char* name = FirstIn(symbols.exported, kClocks)) {
    return ForbiddenUse{"timer_patch",
                        std::string("it defines ") + name + "(): a kernel does not replace clocks"};
  }
  for (const std::string& library : symbols.needed) {
    if (!IsAllowedLibrary(library, torch)) {
      return ForbiddenUse{
          "library_fallback",
          "it needs " + library + ": a kernel is to be written, not to be found in a library"};
    }
  }
  return std::nullopt;
}

}  // namespace kerf::verify

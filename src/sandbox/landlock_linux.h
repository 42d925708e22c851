// Landlock's rights, as the newest kernel knows them.
#pragma once

#include <cstdint>

namespace kerf::sandbox {

constexpr uint64_t kLandlockExecute = 1U << 0;
constexpr uint64_t kLandlockWriteFile = 1U << 1;
constexpr uint64_t kLandlockReadFile = 1U << 2;
constexpr uint64_t kLandlockReadDir = 1U << 3;
constexpr uint64_t kLandlockMakeChar = 1U << 6;
constexpr uint64_t kLandlockMakeBlock = 1U << 11;
constexpr uint64_t kLandlockTruncate = 1U << 14;
constexpr uint64_t kLandlockIoctlDev = 1U << 15;

constexpr uint64_t kLandlockRead = kLandlockExecute | kLandlockReadFile | kLandlockReadDir;
// Remove, create, link, rename, truncate; device nodes are never made.
constexpr uint64_t kLandlockWrite = 0x7fffU & ~(kLandlockMakeChar | kLandlockMakeBlock);
constexpr uint64_t kLandlockDevice =
    kLandlockReadFile | kLandlockWriteFile | kLandlockTruncate | kLandlockIoctlDev;
// Those that may be given to a path that is not a folder.
constexpr uint64_t kLandlockFileRights = kLandlockExecute | kLandlockDevice;

// 0 when the kernel has no Landlock.
int LandlockAbi();
// All rights an ABI can take away.
uint64_t KnownFileAccess(int abi);

}  // namespace kerf::sandbox

// Keeps what verdicts leave in the cache within bounds.
#pragma once

#include <cstdint>
#include <string>

namespace kerf::verify {

// Removes folders of runs that never tidied up (a killed kerf), a day after; and the least recently
// used builds and results of labels until they take no more than `limit_bytes`. What another
// process is about to use may go: it is made again. Failures are ignored: the next sweep tries
// again.
void SweepCache(const std::string& cache_dir, uint64_t limit_bytes);

// Notes that a file of the cache was used.
void TouchFile(const std::string& path);

}  // namespace kerf::verify

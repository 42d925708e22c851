// `kerf trace append`: JSON Lines in, one answer for each, in order, once its record is durable.
//
// Two threads: one reads, parses and cleans; the other gives step numbers, writes, syncs and
// answers. They meet in a queue whose size is bounded in bytes, so memory stays flat however much
// comes in. Hashing is done by threads of its own where there are processors for them, else by
// whichever of the two would wait.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/recorder.h"
#include "trace/redactor.h"

namespace kerf::trace {

enum class Durability { kStep, kBatch };

struct AppendStreamOptions {
  Durability durability = Durability::kStep;
  int input_fd = 0;
  // Asked now and then, from another thread. Once true nothing more is read, and what was read is
  // recorded and answered; a line that has no end yet is not.
  std::function<bool()> stop;
  // For batches. Threads that only hash.
  size_t hashers = 0;
  // Larger ones leave the device less time to wait, but fall out of the caches before they are
  // written.
  size_t batch_bytes = size_t{4} << 20;
};

struct AppendSummary {
  int64_t recorded = 0;
  int64_t refused = 0;
  // Set when the input could not be read to its end or an answer could not be written.
  Status status;
};

// `answer` gets whole lines, LF included, and must have passed them on when it returns; an Error
// from it ends the stream. It is called from the thread that calls RunAppendStream.
AppendSummary RunAppendStream(Recorder& recorder, const Redactor& redactor,
                              const AppendStreamOptions& options,
                              const std::function<Status(std::string_view)>& answer);

}  // namespace kerf::trace

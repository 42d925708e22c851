#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "base/file_system.h"
#include "cli/app.h"
#include "cli/render/output.h"
#include "loop/verify/nvrtc_main.h"
#include "loop/verify/runner_main.h"
#include "sim/exec/runner_main.h"

namespace {

// A closed standard stream would be given to the next file that kerf opens, which would then be
// taken for it. Opened for reading only: writing to a closed stream stays an error.
void OpenStandardStreams() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDONLY);
  } while (fd >= 0 && fd <= 2);
  if (fd > 2) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  // Before anything else: this process then belongs to a candidate.
  if (argc >= 3 && std::strcmp(argv[1], kerf::verify::kRunnerWord) == 0) {
    return kerf::verify::RunnerMain(argc - 2, argv + 2);
  }
  if (argc >= 3 && std::strcmp(argv[1], kerf::verify::kNvrtcWord) == 0) {
    return kerf::verify::NvrtcMain(argc - 2, argv + 2);
  }
  if (argc >= 3 && std::strcmp(argv[1], kerf::sim::kSimWord) == 0) {
    return kerf::sim::SimRunnerMain(argc - 2, argv + 2);
  }
  OpenStandardStreams();
  // Inherited as ignored from some launchers; the exit codes of our children would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  const auto fs = kerf::MakePosixFileSystem();
  const auto clock = kerf::MakeSystemClock();
  const auto out = kerf::cli::MakeOutput(/*stdout_fd=*/1, /*stderr_fd=*/2);
  kerf::cli::Context context{*fs, *clock, *out};
  return kerf::cli::RunApp(argc, argv, context);
}

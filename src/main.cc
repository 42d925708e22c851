#include <csignal>

#include "base/clock.h"
#include "base/file_system.h"
#include "cli/app.h"
#include "cli/render/output.h"

int main(int argc, char** argv) {
  // Inherited as ignored from some launchers; the exit codes of our children would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  const auto fs = kerf::MakePosixFileSystem();
  const auto clock = kerf::MakeSystemClock();
  const auto out = kerf::cli::MakeOutput(/*stdout_fd=*/1, /*stderr_fd=*/2);
  kerf::cli::Context context{*fs, *clock, *out};
  return kerf::cli::RunApp(argc, argv, context);
}

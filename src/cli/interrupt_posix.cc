#include <unistd.h>

#include <csignal>

#include "cli/interrupt.h"
#include "cli/verb.h"

namespace kerf::cli {
namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t signals_seen = 0;
struct sigaction old_int;
struct sigaction old_term;
struct sigaction old_hangup;

void OnSignal(int /*signal*/) {
  if (signals_seen != 0) ::_exit(kExitInterrupted);
  signals_seen = 1;
}

}  // namespace

InterruptWatch::InterruptWatch() {
  signals_seen = 0;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &old_int);
  ::sigaction(SIGTERM, &action, &old_term);
  ::sigaction(SIGHUP, nullptr, &old_hangup);
  if (old_hangup.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);  // as nohup set it
}

InterruptWatch::~InterruptWatch() {
  ::sigaction(SIGINT, &old_int, nullptr);
  ::sigaction(SIGTERM, &old_term, nullptr);
  ::sigaction(SIGHUP, &old_hangup, nullptr);
}

bool InterruptWatch::interrupted() const { return signals_seen != 0; }

}  // namespace kerf::cli

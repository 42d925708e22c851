#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cstdint>

#include "device/release_watch.h"
#include "device/ticket_queue.h"

namespace kerf::device {

ReleaseWatch::ReleaseWatch() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void ReleaseWatch::Start(const RuntimeDir& dir) {
  if (started_) return;
  started_ = true;
  events_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!events_.open()) return;
  // IN_ATTRIB: a lock was released in good order. IN_CLOSE_WRITE: its owner ended. The kernel sends
  // the latter just before it drops the lock, which is why Wait() is followed by more than one
  // look.
  (void)::inotify_add_watch(events_.get(), dir.path().c_str(),
                            IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE);
  // Not IN_ATTRIB: tickets are touched all the time.
  (void)::inotify_add_watch(events_.get(), (dir.path() + "/" + kQueueFolder).c_str(),
                            IN_DELETE | IN_CLOSE_WRITE);
}

bool ReleaseWatch::Wait(std::chrono::milliseconds at_most) {
  pollfd fds[2] = {{wake_.get(), POLLIN, 0}, {events_.get(), POLLIN, 0}};
  if (::poll(fds, 2, static_cast<int>(at_most.count())) <= 0) return false;
  uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof count);
  alignas(inotify_event) char buffer[4096];
  while (events_.open() && ::read(events_.get(), buffer, sizeof buffer) > 0) {
  }
  return true;
}

void ReleaseWatch::Notify() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

}  // namespace kerf::device

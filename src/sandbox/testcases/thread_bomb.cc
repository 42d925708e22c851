// Threads that never end.
#include <pthread.h>
#include <unistd.h>

void* Wait(void*) {
  for (;;) ::pause();
}

int main() {
  for (;;) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, Wait, nullptr) != 0) ::usleep(1000);
  }
}

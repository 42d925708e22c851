// Every process makes another two, for ever.
#include <unistd.h>

int main() {
  for (;;) ::fork();
}

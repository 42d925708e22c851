// Sleeps past its wall time.
#include <unistd.h>

int main() { ::sleep(1000); }

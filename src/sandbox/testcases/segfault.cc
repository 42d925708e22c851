// Writes to address 0.
int main() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;  // NOLINT: the point of it
}

// Spins past its CPU time.
int main() {
  volatile bool go_on = true;
  while (go_on) {
  }
}

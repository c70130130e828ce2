// Computes without end and will not be told to stop.
#include <signal.h>

int main() {
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_IGN);
  for (volatile unsigned i = 0;; i = i + 1) {
  }
}

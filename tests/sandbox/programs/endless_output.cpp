// Writes without end to the descriptor that its argument names.
#include <unistd.h>

#include "attempt.hpp"

int main(int, char** argv) {
  static char block[1 << 12];
  while (write(atoi(argv[1]), block, sizeof block) > 0) {
  }
}

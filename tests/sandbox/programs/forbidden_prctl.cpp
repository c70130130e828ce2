// Makes the prctl whose option is its argument, with garbage in the half that the kernel ignores.
#include <sys/syscall.h>
#include <unistd.h>

#include "attempt.hpp"

int main(int, char** argv) {
  if (syscall(SYS_prctl, (1UL << 32) | strtoul(argv[1], nullptr, 0), 1, 0, 0, 0) < 0) refused("prctl");
  got_through("prctl");
}

// Makes a system call (getpid) of the 32-bit or the x32 table, which a filter might not look at.
#include <unistd.h>

#include "attempt.hpp"

int main(int, char** argv) {
  long result = -1;
  if (strcmp(argv[1], "x32") == 0)
    result = syscall(0x40000000 | 39);
  else
    asm volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
  if (result < 0) refused("the call");
  got_through("the call");
}

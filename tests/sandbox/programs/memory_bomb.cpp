// Touches memory without end: private, shared, or a little in each of several processes.
#include <sys/mman.h>
#include <unistd.h>

#include "attempt.hpp"

int main(int, char** argv) {
  constexpr size_t kStep = 1 << 20;
  const int sharing = strcmp(argv[1], "shared") == 0 ? MAP_SHARED : MAP_PRIVATE;
  if (strcmp(argv[1], "spread") == 0)
    for (int i = 0; i < 2; ++i) fork();
  for (size_t total = 0; total < (strcmp(argv[1], "spread") == 0 ? 40 * kStep : 4096 * kStep); total += kStep) {
    void* memory = mmap(nullptr, kStep, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) refused("mmap");
    memset(memory, 1, kStep);
  }
  sleep(10);
  got_through("too much memory");
}

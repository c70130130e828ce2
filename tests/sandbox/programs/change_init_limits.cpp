// Takes the sandbox's first process its open files, so that it cannot watch any more.
#include <sys/resource.h>

#include "attempt.hpp"

int main() {
  const rlimit none{0, 0};
  if (prlimit(1, RLIMIT_NOFILE, &none, nullptr) != 0) refused("prlimit");
  got_through("prlimit");
}

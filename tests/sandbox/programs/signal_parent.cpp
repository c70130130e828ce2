// Kills its parent, or everybody.
#include <signal.h>
#include <unistd.h>

#include "attempt.hpp"

int main(int, char** argv) {
  if (kill(strcmp(argv[1], "parent") == 0 ? getppid() : -1, SIGKILL) != 0) refused("kill");
  got_through("kill");
}

// Starts another program, or another process, by the way that its argument names.
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempt.hpp"

int main(int, char** argv) {
  char program[] = "/usr/bin/true";
  char* const arguments[] = {program, nullptr};
  pid_t child = 0;
  if (strcmp(argv[1], "exec") == 0) execv(program, arguments);
  if (strcmp(argv[1], "fork") == 0 && fork() >= 0) got_through("fork");
  if (strcmp(argv[1], "spawn") == 0 && posix_spawn(&child, program, nullptr, nullptr, arguments, nullptr) == 0)
    got_through("posix_spawn");
  refused(argv[1]);
}

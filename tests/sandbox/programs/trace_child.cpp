// A child lets itself be traced by its parent.
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempt.hpp"

int main() {
  if (fork() == 0) _exit(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1);
  int status = 0;
  wait(&status);
  if (status != 0) refused("ptrace");
  got_through("ptrace");
}

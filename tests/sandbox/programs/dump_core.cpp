// A child crashes where a core file could be written.
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempt.hpp"

int main() {
  if (chdir("/tmp") != 0) return 1;
  if (fork() == 0) abort();
  int status = 0;
  wait(&status);
  if (!WIFSIGNALED(status)) return 2;
  DIR* directory = opendir(".");
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] != '.') got_through(entry->d_name);
  if (WCOREDUMP(status)) got_through("a core");
  errno = 0;
  refused("a core file");
}

// Leaves a daemon behind and ends well.
#include <unistd.h>

int main() {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      for (int fd = 0; fd < 3; ++fd) close(fd);
      sleep(60);
    }
    _exit(0);
  }
  return 0;
}

// Fills the disk: with one large file, or with many small ones.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "attempt.hpp"

int main(int, char** argv) {
  static char block[1 << 16];
  const bool one_file = strcmp(argv[1], "one") == 0;
  int fd = -1;
  for (int i = 0; i < 10000; ++i) {
    if (fd < 0 || !one_file) {
      close(fd);
      fd = open(("/tmp/file" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0644);
    }
    if (write(fd, block, sizeof block) != sizeof block) refused("write");
  }
  got_through("650 MB written");
}

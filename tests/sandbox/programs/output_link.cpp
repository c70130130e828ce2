// Puts a link to a file of the host, or a pipe that nobody writes to, where the judge expects the product.
#include <sys/stat.h>
#include <unistd.h>

#include "attempt.hpp"

int main(int, char** argv) {
  if (strcmp(argv[1], "link") == 0 && symlink("/etc/ld.so.cache", "/tmp/product") != 0) return 1;
  if (strcmp(argv[1], "directory") == 0 && mkdir("/tmp/product", 0755) != 0) return 1;
  if (strcmp(argv[1], "large") == 0) {
    FILE* file = fopen("/tmp/product", "w");
    if (file == nullptr || ftruncate(fileno(file), 900 << 10) != 0) return 1;
  }
  return 0;
}

// Reads the file named by its argument: somebody's home, the database, hidden tests.
#include <fcntl.h>

#include "attempt.hpp"

int main(int, char** argv) {
  if (open(argv[1], O_RDONLY) < 0) refused(argv[1]);
  got_through(argv[1]);
}

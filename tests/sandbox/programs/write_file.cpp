// Creates the file named by its argument.
#include <fcntl.h>

#include "attempt.hpp"

int main(int, char** argv) {
  if (open(argv[1], O_WRONLY | O_CREAT, 0644) < 0) refused(argv[1]);
  got_through(argv[1]);
}

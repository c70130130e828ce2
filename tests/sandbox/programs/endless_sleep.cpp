// Waits without end, using nothing.
#include <unistd.h>

int main() {
  while (true) pause();
}

// Opens a local socket, as libc does to ask a name service.
#include <sys/socket.h>

#include "attempt.hpp"

int main() {
  if (socket(AF_UNIX, SOCK_STREAM, 0) < 0) refused("socket");
  got_through("a local socket");
}

// Opens a socket to the internet.
#include <netinet/in.h>
#include <sys/socket.h>

#include "attempt.hpp"

int main() {
  if (socket(AF_INET, SOCK_STREAM, 0) < 0) refused("socket");
  got_through("an internet socket");
}

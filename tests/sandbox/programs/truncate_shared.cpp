// Gets a shared, sealed memory file over the inherited socket and pulls it from under the judge's feet.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attempt.hpp"

int main() {
  char byte;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  if (recvmsg(5, &header, 0) != 1) return 1;
  int fd;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof fd);
  auto* memory = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (memory == MAP_FAILED) return 2;
  memory[0] = 'w';  // what it is for
  if (ftruncate(fd, 0) == 0) got_through("shrinking");
  if (ftruncate(fd, 8192) == 0) got_through("growing");
  if (send(5, "d", 1, 0) != 1) return 3;
  refused("ftruncate");
}

// Reaches for the kernel and for other processes through /proc. Any success counts.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "attempt.hpp"

int main() {
  constexpr const char* kToWrite[] = {"/proc/1/mem", "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern",
                                      "/proc/sys/vm/overcommit_memory"};
  constexpr const char* kToRead[] = {"/proc/1/environ",         "/proc/1/maps", "/proc/1/fd/3",
                                     "/proc/1/root/etc/passwd", "/proc/kcore",  "/proc/1/cwd/etc/shadow"};
  for (const char* path : kToWrite)
    if (open(path, O_WRONLY) >= 0) got_through(path);
  for (const char* path : kToRead) {
    char byte;
    const int fd = open(path, O_RDONLY);
    if (fd >= 0 && read(fd, &byte, 1) > 0) got_through(path);
  }
  // Only this sandbox's own processes are to be seen.
  for (int pid = 3; pid < 100000; ++pid)
    if (access(("/proc/" + std::to_string(pid)).c_str(), F_OK) == 0) got_through("a foreign process");
  refused("/proc");
}

// Control: what an honest worker does. Threads, memory, files in /tmp, messages, its environment and standard input.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <thread>
#include <vector>

int main(int, char** argv) {
  std::vector<std::thread> threads;
  int sums[4] = {};
  for (int& sum : sums)
    threads.emplace_back([&sum] {
      for (int i = 0; i < 1000; ++i) sum += i;
    });
  for (std::thread& thread : threads) thread.join();
  if (mmap(nullptr, size_t{1} << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
    return 1;
  if (dlopen("libm.so.6", RTLD_NOW) == nullptr) return 2;
  std::ofstream(argv[1]) << "product";
  std::string line;
  std::getline(std::cin, line);
  std::cout << "sum " << sums[0] << ", stdin " << line << ", environment";
  for (char** entry = environ; *entry != nullptr; ++entry) std::cout << " " << *entry;
  std::ifstream input(argv[2]);
  std::getline(input, line);
  input.close();
  std::cout << ", input " << line << ", descriptors";
  for (int fd = 0; fd < 256; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) std::cout << " " << fd;
  std::cout << ", directory " << get_current_dir_name() << std::endl;
}

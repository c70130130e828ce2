// Leaves a process behind whose main thread has ended, so that it looks like a zombie.
#include <pthread.h>
#include <unistd.h>

int main() {
  if (fork() == 0) {
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* { return sleep(60), nullptr; }, nullptr);
    pthread_exit(nullptr);
  }
  usleep(20000);
  return 0;
}

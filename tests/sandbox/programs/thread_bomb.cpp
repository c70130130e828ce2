// Starts threads without end.
#include <pthread.h>
#include <unistd.h>

int main() {
  while (true) {
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* { return pause(), nullptr; }, nullptr);
  }
}

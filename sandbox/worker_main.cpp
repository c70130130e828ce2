// The worker: the sandboxed process that a host-track candidate lives in. It loads the HIP runtime (ROCm's on a GPU
// machine, our drop-in elsewhere), then the candidate, and calls the candidate's entry points when the judge says so.
// It holds no secret.
//
//   hipbench-worker RUNTIME CANDIDATE RUN_SYMBOL WORKSPACE_SYMBOL

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sandbox/worker_protocol.hpp"

namespace {

using namespace hipbench::worker;

// The few runtime functions used, resolved before the candidate is loaded, so that it cannot put its own in their
// place.
struct Hip {
  int (*create_stream)(void**) = nullptr;
  int (*synchronize)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  // Of our runtime alone, may be null: streams with work that nothing orders before the tail of the given one.
  int (*unordered_streams)(void*) = nullptr;
};

void answer(Stage stage, int64_t value, const char* text) {
  Answer message;
  message.stage = stage;
  message.value = value;
  std::snprintf(message.text, sizeof message.text, "%s", text);
  if (::write(kControlFd, &message, sizeof message) != static_cast<ssize_t>(sizeof message)) std::_Exit(1);
}

[[noreturn]] void give_up(Stage stage, const char* text) {
  answer(stage, 0, text);
  std::_Exit(1);
}

template <typename Function>
Function resolve(void* library, const char* symbol) {
  void* address = ::dlsym(library, symbol);
  Function function = nullptr;
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof function);
  return function;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  void* runtime = ::dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (runtime == nullptr) give_up(Stage::LoadFailed, ::dlerror());
  Hip hip;
  hip.create_stream = resolve<int (*)(void**)>(runtime, "hipStreamCreate");
  hip.synchronize = resolve<int (*)()>(runtime, "hipDeviceSynchronize");
  hip.error_string = resolve<const char* (*)(int)>(runtime, "hipGetErrorString");
  hip.unordered_streams = resolve<int (*)(void*)>(runtime, "hipbench_unordered_streams");
  if (hip.create_stream == nullptr || hip.synchronize == nullptr || hip.error_string == nullptr)
    give_up(Stage::LoadFailed, "the HIP runtime lacks hipStreamCreate, hipDeviceSynchronize or hipGetErrorString");

  void* candidate = ::dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (candidate == nullptr) give_up(Stage::LoadFailed, ::dlerror());
  const auto run = resolve<int (*)(const void*, void*, size_t, void*)>(candidate, argv[3]);
  const auto workspace = resolve<size_t (*)(const void*)>(candidate, argv[4]);
  if (run == nullptr) {
    char text[256];
    std::snprintf(text, sizeof text,
                  "the candidate does not export %s (is it declared extern \"C\"? A kernel-track file has a comment /* "
                  "hipbench-plan 1)",
                  argv[3]);
    give_up(Stage::LoadFailed, text);
  }
  void* stream = nullptr;
  if (const int error = hip.create_stream(&stream); error != 0) give_up(Stage::HipFailed, hip.error_string(error));
  answer(Stage::Ready, workspace != nullptr, "");

  while (true) {
    Ask ask;
    const ssize_t got = ::read(kControlFd, &ask, sizeof ask);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof ask)) return 0;  // the judge is done with us
    alignas(16) unsigned char args[kMaxArgs];
    std::memcpy(args, ask.args, sizeof args);
    if (ask.request == Request::Workspace) {
      answer(Stage::Done, workspace == nullptr ? 0 : static_cast<int64_t>(workspace(args)), "");
      continue;
    }
    void* workspace_pointer = nullptr;
    std::memcpy(&workspace_pointer, &ask.workspace, sizeof workspace_pointer);
    const int returned = run(args, workspace_pointer, ask.workspace_bytes, stream);
    const int unordered = hip.unordered_streams == nullptr ? 0 : hip.unordered_streams(stream);
    const int error = hip.synchronize();
    std::fflush(stdout);  // the judge may end this process at any time from now on
    if (error != 0)
      answer(Stage::HipFailed, error, hip.error_string(error));
    else if (returned == 0 && unordered > 0)
      answer(Stage::Unordered, unordered, "");
    else
      answer(Stage::Done, returned,
             returned == 0 ? "" : hip.error_string(returned));  // most candidates return a hipError_t
  }
}

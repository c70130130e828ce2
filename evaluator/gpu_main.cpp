// A process that holds a GPU for the judge: it opens the HIP runtime that it is given and does single steps, as
// evaluator/gpu_protocol.hpp lists them. It is ours, but the candidate's kernels run in its address space on the GPU;
// so it is told nothing that they must not know, and the judge keeps the clock that counts.
//
//   hipbench-gpu RUNTIME

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <variant>
#include <vector>

#include "evaluator/gpu_protocol.hpp"

namespace {

using namespace hipbench::gpu;
using Clock = std::chrono::steady_clock;

// How long the next request is waited for without sleeping: so a call begins when the judge asks for it, not when a
// sleeper has been woken.
constexpr auto kWatchful = std::chrono::milliseconds(1);
constexpr unsigned kNonBlockingStream = 1;  // hipStreamNonBlocking

// The runtime's functions by the types that its C interface has had since HIP 5; handles are opaque, hipError_t an int.
struct Hip {
  int (*hipGetDeviceCount)(int*) = nullptr;
  int (*hipSetDevice)(int) = nullptr;
  int (*hipDeviceGetName)(char*, int, int) = nullptr;
  int (*hipDeviceGetPCIBusId)(char*, int, int) = nullptr;
  int (*hipRuntimeGetVersion)(int*) = nullptr;
  const char* (*hipGetErrorString)(int) = nullptr;
  int (*hipGetLastError)() = nullptr;
  int (*hipStreamCreateWithFlags)(void**, unsigned) = nullptr;
  int (*hipEventCreate)(void**) = nullptr;
  int (*hipEventRecord)(void*, void*) = nullptr;
  int (*hipEventElapsedTime)(float*, void*, void*) = nullptr;
  int (*hipDeviceSynchronize)() = nullptr;
  int (*hipMalloc)(void**, size_t) = nullptr;
  int (*hipMemcpyHtoD)(void*, void*, size_t) = nullptr;
  int (*hipMemcpyDtoH)(void*, void*, size_t) = nullptr;
  int (*hipMemsetAsync)(void*, int, size_t, void*) = nullptr;
  int (*hipModuleLoadData)(void**, const void*) = nullptr;
  int (*hipModuleGetFunction)(void**, void*, const char*) = nullptr;
  int (*hipModuleLaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                               void**, void**) = nullptr;
  int (*hipModuleLaunchCooperativeKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                          void*, void**) = nullptr;
};

struct FillStep {
  void* address;
  uint32_t value;
  size_t bytes;
};

void say(const Answer& answer) {
  if (::send(kControlFd, &answer, sizeof answer, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof answer)) std::_Exit(0);
}

[[noreturn]] void give_up(const char* format, ...) __attribute__((format(printf, 1, 2)));
void give_up(const char* format, ...) {
  Answer answer;
  answer.error = -1;
  va_list words;
  va_start(words, format);
  std::vsnprintf(answer.text, sizeof answer.text, format, words);
  va_end(words);
  say(answer);
  std::_Exit(1);
}

template <typename Function>
void resolve(void* runtime, const char* symbol, Function& function) {
  void* address = ::dlsym(runtime, symbol);
  if (address == nullptr) give_up("the HIP runtime lacks %s: it is older than HIP 5", symbol);
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof function);
}

Hip open_runtime(void* runtime) {
  Hip hip;
#define HIPBENCH_RESOLVE(name) resolve(runtime, #name, hip.name)
  HIPBENCH_RESOLVE(hipGetDeviceCount);
  HIPBENCH_RESOLVE(hipSetDevice);
  HIPBENCH_RESOLVE(hipDeviceGetName);
  HIPBENCH_RESOLVE(hipDeviceGetPCIBusId);
  HIPBENCH_RESOLVE(hipRuntimeGetVersion);
  HIPBENCH_RESOLVE(hipGetErrorString);
  HIPBENCH_RESOLVE(hipGetLastError);
  HIPBENCH_RESOLVE(hipStreamCreateWithFlags);
  HIPBENCH_RESOLVE(hipEventCreate);
  HIPBENCH_RESOLVE(hipEventRecord);
  HIPBENCH_RESOLVE(hipEventElapsedTime);
  HIPBENCH_RESOLVE(hipDeviceSynchronize);
  HIPBENCH_RESOLVE(hipMalloc);
  HIPBENCH_RESOLVE(hipMemcpyHtoD);
  HIPBENCH_RESOLVE(hipMemcpyDtoH);
  HIPBENCH_RESOLVE(hipMemsetAsync);
  HIPBENCH_RESOLVE(hipModuleLoadData);
  HIPBENCH_RESOLVE(hipModuleGetFunction);
  HIPBENCH_RESOLVE(hipModuleLaunchKernel);
  HIPBENCH_RESOLVE(hipModuleLaunchCooperativeKernel);
#undef HIPBENCH_RESOLVE
  return hip;
}

void* pointer(uint64_t address) {
  void* result = nullptr;
  std::memcpy(&result, &address, sizeof result);
  return result;
}

uint64_t number(const void* address) {
  uint64_t result = 0;
  std::memcpy(&result, &address, sizeof result);
  return result;
}

class Holder {
 public:
  Holder(const Hip& hip, void* shared) : hip_(hip), shared_(shared) {}

  // hipError_t of the first step that failed.
  int prepare() {
    if (const int error = hip_.hipSetDevice(0)) return error;
    if (const int error = hip_.hipStreamCreateWithFlags(&stream_, kNonBlockingStream)) return error;
    if (const int error = hip_.hipEventCreate(&start_)) return error;
    return hip_.hipEventCreate(&stop_);
  }

  int carry_out(const Ask& ask, Answer& answer) {
    if (ask.bytes > kSharedBytes && (ask.request == Request::CopyIn || ask.request == Request::CopyOut)) return -1;
    switch (ask.request) {
      case Request::LoadModule:
        return hip_.hipModuleLoadData(&module_, shared_);
      case Request::FindKernel:
        return find_kernel(ask, answer);
      case Request::Allocate:
        return allocate(ask.bytes, answer);
      case Request::CopyIn:
        return hip_.hipMemcpyHtoD(pointer(ask.address), shared_, ask.bytes);
      case Request::CopyOut:
        return hip_.hipMemcpyDtoH(shared_, pointer(ask.address), ask.bytes);
      case Request::Fill:
        return submit(FillStep{pointer(ask.address), ask.value, ask.bytes});
      case Request::ClearSteps:
        return steps_.clear(), 0;
      case Request::AddFill:
        return steps_.emplace_back(FillStep{pointer(ask.address), ask.value, ask.bytes}), 0;
      case Request::AddLaunch:
        return add_launch(ask.launch);
      case Request::Call:
        return call(answer);
      case Request::Synchronise:
        return hip_.hipDeviceSynchronize();
    }
    return -1;
  }

 private:
  int find_kernel(const Ask& ask, Answer& answer) {
    char name[kMostText];
    std::memcpy(name, ask.text, sizeof name);
    name[kMostText - 1] = 0;
    void* kernel = nullptr;
    const int error = hip_.hipModuleGetFunction(&kernel, module_, name);
    answer.value = kernels_.size();
    kernels_.push_back(kernel);
    return error;
  }

  int allocate(uint64_t bytes, Answer& answer) {
    void* address = nullptr;
    const int error = hip_.hipMalloc(&address, bytes);
    answer.value = number(address);
    return error;
  }

  int add_launch(const Launch& launch) {
    if (launch.kernel >= kernels_.size() || launch.argument_count > kMostArguments) return -1;
    for (uint32_t k = 0; k < launch.argument_count; ++k)
      if (launch.offsets[k] >= kMostArgumentBytes) return -1;
    steps_.emplace_back(launch);
    return 0;
  }

  int submit(const FillStep& fill) {
    return hip_.hipMemsetAsync(fill.address, static_cast<int>(fill.value), fill.bytes, stream_);
  }

  int submit(Launch& launch) {
    void* arguments[kMostArguments];
    for (uint32_t k = 0; k < launch.argument_count; ++k) arguments[k] = launch.arguments + launch.offsets[k];
    void* const kernel = kernels_[launch.kernel];
    const uint32_t *g = launch.grid, *b = launch.block;
    if (launch.cooperative != 0)
      return hip_.hipModuleLaunchCooperativeKernel(kernel, g[0], g[1], g[2], b[0], b[1], b[2], launch.dynamic_lds,
                                                   stream_, arguments);
    return hip_.hipModuleLaunchKernel(kernel, g[0], g[1], g[2], b[0], b[1], b[2], launch.dynamic_lds, stream_,
                                      arguments, nullptr);
  }

  int call(Answer& answer) {
    int error = hip_.hipEventRecord(start_, stream_);
    for (auto& step : steps_)
      if (error == 0) error = std::visit([this](auto& one) { return submit(one); }, step);
    if (error == 0) error = hip_.hipEventRecord(stop_, stream_);
    // Whatever has been submitted is waited for, a failure or not.
    if (const int failed = hip_.hipDeviceSynchronize(); error == 0) error = failed;
    float milliseconds = 0;
    if (error == 0) error = hip_.hipEventElapsedTime(&milliseconds, start_, stop_);
    answer.events_us = static_cast<double>(milliseconds) * 1e3;
    return error;
  }

  const Hip& hip_;
  void* shared_;
  void *stream_ = nullptr, *start_ = nullptr, *stop_ = nullptr, *module_ = nullptr;
  std::vector<void*> kernels_;
  std::vector<std::variant<FillStep, Launch>> steps_;
};

// The next request; false: the judge is done with us.
bool receive(Ask& ask) {
  const Clock::time_point start = Clock::now();
  while (true) {
    const bool watch = Clock::now() - start < kWatchful;
    const ssize_t got = ::recv(kControlFd, &ask, sizeof ask, watch ? MSG_DONTWAIT : 0);
    if (got == static_cast<ssize_t>(sizeof ask)) return true;
    if (got >= 0 || (errno != EAGAIN && errno != EINTR)) return false;
    ::sched_yield();
  }
}

Answer introduce(const Hip& hip, void* runtime) {
  Answer answer;
  char name[256] = "unknown device";
  int version = 0;
  static_cast<void>(hip.hipDeviceGetName(name, sizeof name - 1, 0));
  static_cast<void>(hip.hipDeviceGetPCIBusId(answer.bus_id, sizeof answer.bus_id - 1, 0));
  static_cast<void>(hip.hipRuntimeGetVersion(&version));
  // Nothing else than our drop-in exports it.
  answer.stand_in = ::dlsym(runtime, "hipbench_unordered_streams") != nullptr;
  std::snprintf(answer.text, sizeof answer.text, "%s (HIP runtime %d.%d.%d)", name, version / 10'000'000,
                version / 100'000 % 100, version % 100'000);
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // Whatever the GPU is doing: with the judge this process goes, and with the process its queues.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  void* shared = ::mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kSharedFd, 0);
  if (shared == MAP_FAILED) give_up("cannot map the shared memory: %s", std::strerror(errno));
  void* runtime = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (runtime == nullptr) give_up("the HIP runtime cannot be loaded: %s", ::dlerror());
  const Hip hip = open_runtime(runtime);
  int devices = 0;
  if (const int error = hip.hipGetDeviceCount(&devices); error != 0 || devices < 1)
    give_up("the HIP runtime finds no device: %s", error == 0 ? "there is none" : hip.hipGetErrorString(error));
  Holder holder(hip, shared);
  if (const int error = holder.prepare()) give_up("the GPU cannot be used: %s", hip.hipGetErrorString(error));
  say(introduce(hip, runtime));

  static Ask ask;
  while (receive(ask)) {
    Answer answer;
    answer.error = holder.carry_out(ask, answer);
    if (answer.error != 0) {
      const char* words =
          answer.error < 0 ? "not a request that can be carried out" : hip.hipGetErrorString(answer.error);
      std::snprintf(answer.text, sizeof answer.text, "%s", words == nullptr ? "unknown error" : words);
      static_cast<void>(hip.hipGetLastError());
    }
    say(answer);
  }
  // Nothing of the runtime's own goodbye matters to anybody, and it may wait for a kernel without end.
  std::_Exit(0);
}
